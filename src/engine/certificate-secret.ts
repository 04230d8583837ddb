import { randomBytes } from "node:crypto";
import { inspect } from "./certificate.ts";
import type { Again, Deps } from "./deps.ts";
import { hashBody } from "./intent.ts";
import { obstructed, publicationOf, write } from "./keys.ts";
import { CERTIFICATE_VERSION, ROTATE_AT } from "./names.ts";
import { keystoreOf, truststoreOf } from "./pkcs12.ts";
import { products } from "./products.ts";
import { readPublished } from "./publish.ts";
import type { Note } from "./published.ts";
import { postpone, record, refreshed, stall } from "./record.ts";
import type { Scene } from "./view.ts";

const PASSWORD = "store.password";

/**
 * Asks for the client certificate and puts it into the Secret, all files in one write. Asking ends nothing: a
 * certificate from before works until its own end, so this may be done at any time, and again after a crash.
 */
export async function fetchCertificate(deps: Deps, scene: Scene): Promise<Again> {
  const { kind, account, view, object } = scene;
  const { certificate: source, product } = kind.resource;
  const publication = publicationOf(scene);
  const claim = view.claim;
  if (!account || !source || !publication || !claim) return "now";
  const access = products[product];
  const answers: unknown[] = [];
  for (const path of source.paths(claim.id, claim.parents)) {
    const url = access.url(account.endpoint(access.endpoint), path);
    answers.push((await account.connection.send({ method: "GET", url, priority: "people" })).body);
  }
  const pems = source.read(answers);
  const judged = pems ? inspect(pems, view.platformNow) : { problem: "the answer holds none" };
  if (!pems || "problem" in judged) {
    const message = `the certificate of the ${kind.resource.noun} is not published: ${"problem" in judged ? judged.problem : ""}`;
    const inMs = postpone(deps, scene, { reason: "InvalidCertificate", message });
    await stall(deps, scene, "InvalidCertificate", message);
    return { inMs };
  }
  const before = deps.published.find(object, publication.name).note;
  const renewed = before?.resource !== claim.id || before.nonce !== judged.facts.serial;
  const version = (before?.resource === claim.id ? before.key.version : 0) + (renewed ? 1 : 0);
  // The password guards nothing that does not lie beside it; what has mounted it keeps working.
  const held = (await readPublished(deps, object, publication.name))?.data[PASSWORD];
  const password = held || randomBytes(18).toString("base64url");
  const stores = { keystore: await keystoreOf(pems, password), truststore: await truststoreOf(pems.ca, password) };
  const note: Note = {
    resource: claim.id,
    nonce: judged.facts.serial,
    content: hashBody(publication.data(undefined, "")).slice(0, 12),
    key: { version, ...judged.facts },
    rotated: object.metadata.annotations?.[ROTATE_AT] ?? "",
  };
  const data = source.data(answers, { ...pems, ...stores, password });
  const written = await write(deps, scene, publication, data, note, CERTIFICATE_VERSION);
  if (written.outcome === "obstructed") return obstructed(deps, scene, written.obstacle);
  const message = `certificate ${judged.facts.serial} is in Secret ${publication.name} until ${judged.facts.expiresAt}`;
  const current = refreshed(deps, scene);
  await record(
    deps,
    current,
    { mode: "reconciling", reason: "CertificateIssued", message },
    { certificate: { version, ...judged.facts } },
  );
  if (renewed) deps.events.record(current.object, "Normal", "CertificateIssued", message);
  // The platform may have no younger one yet: then the same is there again, and it is asked again later.
  if (!renewed && view.keyDue)
    return {
      inMs: postpone(deps, scene, {
        reason: "CertificateIssued",
        message: `${message}; the platform has no younger one yet`,
      }),
    };
  return "now";
}
