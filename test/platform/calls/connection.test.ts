import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { Retry, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";
import { transportsForFile } from "./open-transports.ts";

const open = transportsForFile();

describe("a connection", () => {
  test("uses new credentials at once, with an unspoilt pace", async () => {
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "3600" }));
    const connection = open().connect("ns/a", { token: "old" });
    await expect(connection.send({ method: "POST", url: server.url })).rejects.toBeInstanceOf(Retry);
    server.script = answer(200, {});
    connection.setCredentials({ token: "new", contractNumber: 7 });
    await connection.send({ method: "POST", url: server.url });
    expect(server.arrived[1]?.headers.authorization).toBe("Bearer new");
    expect(connection.contractNumber).toBe(7);
  });

  test("shares its pace with every connection that has the same token, on the same host", async () => {
    const clock = fakeClock();
    await using server = await scriptedServer(answer(429, undefined, { "retry-after": "60" }));
    const transport = open({ clock });
    const [one, two] = [transport.connect("ns/a", { token: "t" }), transport.connect("ns/b", { token: "t" })];
    await expect(one.send({ method: "POST", url: server.url })).rejects.toBeInstanceOf(Retry);
    two.setCredentials({ token: "t", contractNumber: 5 });
    const refused = { status: 429, executed: "no" };
    await expect(two.send({ method: "POST", url: server.url })).rejects.toMatchObject(refused);
    expect(server.arrived).toHaveLength(1);
    await one.close();
    await two.close();
    server.script = answer(200);
    await transport.connect("ns/c", { token: "t" }).send({ method: "POST", url: server.url });
  });

  test("sends no write that waited with the token of one user and whose guard sees another one", async () => {
    await using server = await scriptedServer(answer(200));
    const tokenOf = (uuid: string) =>
      `x.${Buffer.from(JSON.stringify({ identity: { uuid } })).toString("base64url")}.x`;
    const connection = open().connect("ns/a", { token: tokenOf("u2") });
    const url = server.url;
    const users: unknown[] = [];
    const guard = () => void users.push(connection.identity?.userId);
    // Its turn comes later, even where nothing else waits.
    const outcome = expect(connection.send({ method: "POST", url, guard })).rejects.toMatchObject({ executed: "no" });
    connection.setCredentials({ token: tokenOf("u1") });
    await outcome;
    expect([users, server.arrived]).toEqual([[], []]);
    await connection.send({ method: "POST", url, guard });
    expect([users, server.arrived.length]).toEqual([["u1"], 1]);
  });

  test("aborts what is under way and what comes later when it is closed", async () => {
    await using server = await scriptedServer(() => {});
    const connection = open().connect("ns/a");
    const sending = connection.send({ method: "POST", url: server.url });
    const outcome = expect(sending).rejects.toMatchObject({ executed: "unknown" });
    await server.arrival(1);
    await connection.close();
    await outcome;
    await expect(connection.send({ method: "POST", url: server.url })).rejects.toMatchObject({ executed: "no" });
    expect(server.arrived).toHaveLength(1);
  });

  test("gives up when the caller does, and says what that leaves open", async () => {
    await using server = await scriptedServer(() => {});
    const connection = open().connect("ns/a");
    const controller = new AbortController();
    const sending = connection.send({ method: "PATCH", url: server.url, signal: controller.signal });
    const outcome = expect(sending).rejects.toMatchObject({ kind: "Retry", executed: "unknown" });
    await server.arrival(1);
    controller.abort();
    await outcome;
  });

  test("does not send a token that would break out of its header", async () => {
    const token = "abc\r\nX-Evil: 1";
    const sending = open().connect("ns/a", { token }).send({ method: "GET", url: "http://127.0.0.1:9/" });
    const error = await sending.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Unauthorized);
    expect(inspect(error, { depth: 9 })).not.toContain("Evil");
  });
});

test("closing the transport ends what is under way or waits for its turn, on every connection", async () => {
  await using server = await scriptedServer(() => {});
  const transport = open();
  const calls = ["ns/a", "ns/b"].flatMap((id) => {
    const connection = transport.connect(id, { token: id });
    return Array.from({ length: 20 }, () => connection.send({ method: "GET", url: server.url }));
  });
  const ended = Promise.allSettled(calls);
  await transport.close();
  expect((await ended).filter(({ status }) => status === "rejected")).toHaveLength(40);
});
