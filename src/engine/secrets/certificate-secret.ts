import { randomBytes } from "node:crypto";
import { inspect } from "../../certificates/inspect.ts";
import { keystoreOf, truststoreOf } from "../../certificates/pkcs12.ts";
import type { Requeue } from "../../kube/queue/work.ts";
import { readOwned } from "../../kube/write/owned-secret.ts";
import { urlOf } from "../accounts/accounts.ts";
import type { Deps } from "../observe/deps.ts";
import { contentOf } from "../observe/secrets/secret-state.ts";
import type { Context } from "../observe/view.ts";
import { ROTATE_AT } from "../state/names.ts";
import type { Note } from "../state/published.ts";
import type { CertificateFacts } from "../status/schema.ts";
import { recordFailure } from "../write/record.ts";
import { countRenewal, obstructed, write } from "./keys.ts";

const PASSWORD = "store.password";
const DAY_MS = 86_400_000;

/**
 * Asks for the client certificate and puts it into the Secret, all files in one write. The previous certificate works until it
 * expires, so this may be done at any time, and again after a crash. An invalid certificate is not published.
 */
export async function fetchCertificate(deps: Deps, context: Context): Promise<Requeue> {
  const { kind, account, view, object, memory, status, publication } = context;
  const { secret, place } = kind.resource;
  const source = secret?.certificate;
  const claim = view.resource.claim;
  if (!account || !source || !publication || !claim) return "now";
  const answers: unknown[] = [];
  for (const path of source.paths(claim.id, claim.parents)) {
    const { product } = place;
    const url = urlOf(account, product, path);
    answers.push((await account.connection.send({ method: "GET", url, product, priority: "people" })).body);
  }
  const pems = source.read(answers);
  const judged = pems ? inspect(pems, view.times.platformNow) : { problem: "the answer has none" };
  if (!pems || "problem" in judged) {
    const message = `certificate of the ${kind.kind} not published: ${"problem" in judged ? judged.problem : ""}`;
    return recordFailure(deps, context, { reason: "InvalidCertificate", message });
  }
  const { facts } = judged;
  const held = context.note && "serial" in context.note.key ? context.note.key : undefined;
  const rotated = object.metadata.annotations?.[ROTATE_AT] ?? "";
  if (held && !isYounger(facts, held) && context.note?.rotated === rotated) {
    const left = Date.parse(held.expiresAt) - view.times.platformNow;
    memory.renewAfter = view.times.now + Math.max(deps.settings.retryMs, Math.min(left / 10, DAY_MS));
    return "now";
  }
  // The status has the version, too, in case the Secret was deleted.
  const last = held ?? (status.id === claim.id ? status.certificate : undefined);
  const renewed = last?.serial !== facts.serial;
  const version = (last?.version ?? 0) + (renewed ? 1 : 0);
  // The password is in the same Secret as the stores: a new one for each certificate would protect nothing.
  const kept = (await readOwned(deps.client, object, publication.name))?.data[PASSWORD] ?? "";
  const password = /^[\w-]+$/.test(kept) ? kept : randomBytes(18).toString("base64url");
  const stores = { keystore: await keystoreOf(pems, password), truststore: await truststoreOf(pems.ca, password) };
  const note: Note = {
    resource: claim.id,
    nonce: facts.serial,
    content: contentOf(publication, undefined, account),
    key: { version, ...facts },
    rotated,
  };
  const data = () => source.data(answers, { ...pems, ...stores, password });
  const written = await write(deps, context, publication, data, note);
  if (written.outcome === "obstructed") return obstructed(deps, context, written.obstacle);
  countRenewal(deps, context, "the certificate was fetched again");
  memory.renewAfter = undefined;
  const still = renewed ? "" : "; the platform has no newer one yet";
  const message = `certificate ${facts.serial} is in Secret ${publication.name}, expires ${facts.expiresAt}${still}`;
  deps.events.record(object, "Normal", "CertificateIssued", message);
  return "now";
}

/** Whether a certificate is newer: the platform may still return the current one, or an older one. */
const isYounger = (
  one: Pick<CertificateFacts, "issuedAt" | "expiresAt">,
  other: Pick<CertificateFacts, "issuedAt" | "expiresAt">,
): boolean => one.issuedAt > other.issuedAt || one.expiresAt > other.expiresAt;
