import { inspect } from "node:util";
import { expect, test } from "vitest";
import { PlatformError } from "../../../src/platform/answers/errors.ts";
import { answer, scriptedServer } from "../scripted-server.ts";
import { transportsForFile } from "./open-transports.ts";

const open = transportsForFile();

test("every write that was sent is one line for the one on call; reads are for debugging", async () => {
  const lines: unknown[] = [];
  const at = (level: string) => (fields: object, message: string) => lines.push({ level, message, ...fields });
  const log = { debug: at("debug"), info: at("info"), warn: at("warn") };
  const location = "/cloudapi/v6/requests/r-1/status";
  await using server = await scriptedServer(answer(202, { id: "s" }, { location }));
  const connection = open({ log }).connect("ns/a", { token: "tok" });
  const url = `${server.url}/cloudapi/v6/datacenters`;
  const object = "Datacenter/shop/a";
  await connection.send({ method: "POST", url: `${url}?depth=1`, body: {}, object });
  server.script = answer(422, { messages: [{ message: "no" }] });
  await connection.send({ method: "POST", url, body: {}, object }).catch(() => {});
  const guard = () => {
    throw new Error("not the leader");
  };
  await connection.send({ method: "POST", url, body: {}, object, guard }).catch(() => {});
  server.script = answer(200, {});
  await connection.send({ method: "GET", url });
  const call = { account: "ns/a", path: "/cloudapi/v6/datacenters" };
  const write = { level: "info", message: "platform write", object, method: "POST", ...call };
  expect(lines).toEqual([
    expect.objectContaining({ ...write, status: 202, requestId: expect.stringMatching(/-1$/), platformRequest: "r-1" }),
    expect.objectContaining({ ...write, status: 422, requestId: expect.stringMatching(/-2$/) }),
    expect.objectContaining({ level: "debug", message: "platform read", method: "GET", status: 200, ...call }),
  ]);
});

test("no secret reaches a log line, an error or an observer", async () => {
  const canary = "canary-4711-secret";
  const token = `${canary}a.${canary}b.${canary}c`;
  const lines: unknown[] = [];
  const keep = (...line: unknown[]) => lines.push(line);
  const log = { debug: keep, info: keep, warn: keep };
  const transport = open({ log, observe: (call) => lines.push(call) });
  const connection = transport.connect("ns/a", { token });
  const answers = [
    answer(200, { key: canary }),
    answer(422, { messages: [{ errorCode: "1", message: `bad token ${token} or ${canary}b` }] }),
    answer(401, `<html>${token}</html>`),
    answer(500, { echoed: canary }),
  ];
  await using server = await scriptedServer(() => {});
  for (const script of answers) {
    server.script = script;
    const url = `${server.url}/x?password=${canary}`;
    await connection.send({ method: "POST", url, body: { password: canary } }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(PlatformError);
      lines.push(error, error instanceof Error ? error.stack : "");
    });
  }
  expect(lines.length).toBeGreaterThan(8);
  expect(inspect(lines, { depth: 12 })).not.toContain(canary);
});
