import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packChart, releasedChart, writeChartArtifact } from "../../release/artifacts/chart.ts";
import { writeImage } from "../../release/artifacts/image.ts";
import { credentialsFor } from "../../release/registry/credentials.ts";
import { pushRelease } from "../../release/registry/push.ts";
import { checksums } from "../../release/statements/checksums.ts";
import { openSigner, signatureTag, writeSignature } from "../../release/statements/signatures.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { root, run } from "../processes.ts";
import { base, identity } from "./parts.ts";
import { startRegistry, type TestRegistry } from "./registry.ts";

const folder = temporaryFolder("push");
const at = (...path: string[]) => join(folder.path, ...path);
afterAll(() => folder.remove());

/** A complete release with almost empty artifacts. */
function writeRelease(name: string, code: string): { image: string; chart: string } {
  const out = at(name);
  mkdirSync(out);
  writeFileSync(at("node"), "Node");
  const parts = { bases: [base("amd64", at("node")), base("arm64", at("node"))], dockerfile: 'FROM x\nCMD ["x"]\n' };
  const image = writeImage(join(out, "image"), { ...parts, app: [{ path: "main.js", content: code }] }, identity);
  const pinned = { repository: "registry.example.com/mooring/mooring", digest: image.digest };
  const files = releasedChart(join(root, "deploy/chart"), identity, {
    image: pinned,
    docsUrl: "https://docs.example.com",
    home: "https://example.com",
    repository: "registry.example.com/mooring/charts/mooring",
  });
  const archive = packChart(files, identity.seconds);
  const chart = writeChartArtifact(join(out, "chart"), files, archive, identity);
  writeFileSync(join(out, "chart.tgz"), archive);
  const published = {
    version: identity.version,
    registry: "registry.example.com/mooring",
    image: pinned,
    chart: { repository: "registry.example.com/mooring/charts/mooring", digest: chart.digest },
  };
  writeFileSync(join(out, "release.json"), JSON.stringify(published));
  writeFileSync(join(out, "SHA256SUMS"), checksums(out));
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(at("key.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  const signer = openSigner(at("key.pem"));
  for (const layout of ["image", "chart"] as const) {
    writeSignature(join(out, "signatures", layout), signer, published[layout].repository, published[layout].digest);
  }
  return { image: image.digest, chart: chart.digest };
}

/** Pushes from one of these folders. Returns the output. */
async function push(from: string, registry: string, login?: string): Promise<string> {
  const said: string[] = [];
  const credentials = () => login && Buffer.from(login).toString("base64");
  await pushRelease({ from: at(from), registry, credentials, plainHttp: false }, (line) => said.push(line));
  return said.join("\n");
}

describe("pushing a release", () => {
  let registry: TestRegistry;
  let digests: { image: string; chart: string };
  beforeAll(async () => {
    registry = await startRegistry();
    digests = writeRelease("release", "code");
    writeRelease("other", "other code");
  });
  afterAll(() => registry.close());

  it("brings image, chart and signatures to a registry, and says where the image is pulled from", async () => {
    const said = await push("release", `${registry.host}/team`);
    expect(said).toContain(`image  ${registry.host}/team/mooring:1.2.3  ${digests.image}`);
    expect(said).toContain(`--set image.repository=${registry.host}/team/mooring`);
    expect([...registry.manifests.keys()].filter((key) => !key.includes("@")).sort()).toEqual([
      "team/charts/mooring:1.2.3",
      `team/charts/mooring:${signatureTag(digests.chart)}`,
      "team/mooring:1.2.3",
      `team/mooring:${signatureTag(digests.image)}`,
    ]);
  });

  it("lets Helm pull the chart from there, as it was built", async () => {
    const helm = (await run(join(root, "test/clients/setup-helm"), ["helm"])).stdout.trim();
    const args = ["pull", `oci://${registry.host}/team/charts/mooring`, "--version", "1.2.3", "--plain-http"];
    const pulled = await run(helm, [...args, "--destination", at()], { env: { ...process.env, HOME: at() } });
    expect(pulled, pulled.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(at("mooring-1.2.3.tgz")).equals(readFileSync(at("release/chart.tgz")))).toBe(true);
  });

  it("sends nothing twice", async () => {
    const before = registry.requests.length;
    expect(await push("release", `${registry.host}/team`)).toContain("0 blobs sent");
    expect(registry.requests.slice(before).filter((each) => each.startsWith("POST "))).toEqual([]);
  });

  it("overwrites no version that was published", async () => {
    const refusal = `${registry.host}/team/mooring has another 1.2.3 (${digests.image})`;
    await expect(push("other", `${registry.host}/team`)).rejects.toThrow(refusal);
  });

  it("refuses files that are not what the checksums say", async () => {
    writeFileSync(at("other/release.json"), `${readFileSync(at("other/release.json"), "utf8")} `);
    await expect(push("other", registry.host)).rejects.toThrow("not what SHA256SUMS says: release.json");
  });

  it("names a registry that cannot be reached", async () => {
    const gone = await startRegistry();
    await gone.close();
    await expect(push("release", gone.host)).rejects.toThrow(`${gone.host} cannot be reached`);
  });

  it("wants a registry and a release", async () => {
    const command = [join(root, "release/push.ts"), "--from", at("nothing"), "--registry"];
    expect(await run(process.execPath, [...command, ""])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("REGISTRY="),
    });
    expect(await run(process.execPath, [...command, registry.host])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has no release"),
    });
  });
});

describe.each(["basic", "bearer"] as const)("a registry that wants a password (%s)", (auth) => {
  let registry: TestRegistry;
  beforeAll(async () => {
    registry = await startRegistry(auth);
    writeRelease(auth, auth);
  });
  afterAll(() => registry.close());

  it("gets it, and nobody else sees it", async () => {
    expect(await push(auth, registry.host, "robot:secret")).not.toContain("secret");
    expect(registry.manifests.has("mooring:1.2.3")).toBe(true);
  });

  it("says what is missing without one", async () => {
    await expect(push(auth, registry.host)).rejects.toThrow(/REGISTRY_PASSWORD|gives no token/);
  });
});

it("a password is found in the environment, or where docker login keeps it", () => {
  const home = { DOCKER_CONFIG: at("docker") };
  mkdirSync(at("docker"), { recursive: true });
  const auths = { "registry.example.com": { auth: "cm9ib3Q6c2VjcmV0" } };
  writeFileSync(at("docker/config.json"), JSON.stringify({ auths }));
  expect(credentialsFor("registry.example.com", home)).toBe("cm9ib3Q6c2VjcmV0");
  expect(credentialsFor("other.example.com", home)).toBeUndefined();
  const env = { ...home, REGISTRY_USERNAME: "robot", REGISTRY_PASSWORD: "secret" };
  expect(credentialsFor("other.example.com", env)).toBe("cm9ib3Q6c2VjcmV0");
});
