import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSources } from "../../src/cli/tools/sources.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { perform } from "../../src/tools/perform.ts";
import { answer, scriptedServer } from "../platform/scripted-server.ts";
import { rowOf } from "./landscape.ts";

const settings = { account: undefined, namespace: undefined, kubeconfig: undefined, tokenFile: undefined };
const refused = (status: number, message: string, headers = {}) =>
  answer(status, { httpStatus: status, messages: [{ errorCode: "1", message }] }, headers);
const ask = (sources: ReturnType<typeof openSources>) =>
  perform(rowOf("list_datacenters"), {}, { ...sources, signal: new AbortController().signal, progress: () => {} });

describe("a tool", () => {
  it("waits for as long as the platform asks, and then has its answer", async () => {
    await using server = await scriptedServer(refused(429, "slow down", { "retry-after": "0" }));
    await using sources = openSources(settings, {
      MOORING_TOKEN: "t",
      MOORING_ENDPOINTS: JSON.stringify({ api: server.url }),
    });
    const call = ask(sources);
    await server.arrival(1);
    server.script = answer(200, { items: [{ id: "a" }] });
    expect(await call).toMatchObject({ structuredContent: { items: [{ id: "a" }] } });
  });

  it("asks the platform over HTTPS, with the caller's token", async () => {
    await using server = await scriptedServer(answer(200, { items: [{ id: "a" }] }));
    const env = { MOORING_TOKEN: "t", MOORING_ENDPOINTS: JSON.stringify({ api: server.url }) };
    await using told = openSources(settings, env);
    await ask(told);
    expect(server.arrived.map(({ headers }) => headers.authorization)).toEqual(["Bearer t"]);
    await using sources = openSources(settings, { IONOS_TOKEN: "t" });
    const { endpoint } = await sources.platform();
    const hosts = (["api", "dns", "certificates", "objectStorage", "objectStorageManagement"] as const).map(endpoint);
    expect(hosts.map((url) => new URL(url).protocol)).toEqual(Array(5).fill("https:"));
  });

  it("goes on with a token that was renewed in its file", async () => {
    const folder = temporaryFolder("token");
    const tokenFile = join(folder.path, "token");
    writeFileSync(tokenFile, "first\n");
    await using server = await scriptedServer((arrived, response, request) => {
      const isGood = arrived.headers.authorization === "Bearer second";
      const script = isGood ? answer(200, { items: [{ id: "a" }] }) : refused(401, "expired");
      script(arrived, response, request);
    });
    const env = { MOORING_ENDPOINTS: JSON.stringify({ api: server.url }) };
    await using sources = openSources({ ...settings, tokenFile }, env);
    expect(await ask(sources)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^401 Unauthorized/) }, {}],
    });
    writeFileSync(tokenFile, "second\n");
    expect(await ask(sources)).toMatchObject({ structuredContent: { items: [{ id: "a" }] } });
    folder.remove();
  });

  it("goes on within one answer: all later reads have the renewed token", async () => {
    const folder = temporaryFolder("token");
    const tokenFile = join(folder.path, "token");
    writeFileSync(tokenFile, "first\n");
    let valid = "Bearer first";
    await using server = await scriptedServer((arrived, response, request) => {
      const isGood = arrived.headers.authorization === valid;
      const script = isGood ? answer(200, { items: [] }) : refused(401, "expired");
      script(arrived, response, request);
    });
    const env = { MOORING_ENDPOINTS: JSON.stringify({ api: server.url }) };
    await using sources = openSources({ ...settings, tokenFile }, env);
    const platform = await sources.platform();
    const { signal } = new AbortController();
    const read = () => platform.read({ method: "GET", url: `${server.url}/cloudapi/v6/datacenters`, signal });
    expect(await read()).toMatchObject({ status: 200 });
    writeFileSync(tokenFile, "second\n");
    valid = "Bearer second";
    for (let nth = 0; nth < 3; nth++) expect(await read()).toMatchObject({ status: 200 });
    valid = "Bearer third";
    for (let nth = 0; nth < 3; nth++) await expect(read()).rejects.toThrow(/answered 401: expired/);
    folder.remove();
  });

  it("says what the platform said, and never its token", async () => {
    await using server = await scriptedServer(refused(403, "no secret-token-of-mine for you"));
    const env = { MOORING_TOKEN: "secret-token-of-mine", MOORING_ENDPOINTS: JSON.stringify({ api: server.url }) };
    await using sources = openSources(settings, env);
    const { isError, content } = await ask(sources);
    expect(isError).toBe(true);
    expect(content[0]?.text).toMatch(/^403 Forbidden: GET \/cloudapi\/v6\/datacenters answered 403: no .* for you/);
    expect(content[0]?.text).not.toContain("secret-token-of-mine");
  });
});
