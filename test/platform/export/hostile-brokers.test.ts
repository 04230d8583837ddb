import { describe, expect, it } from "vitest";
import {
  type AllowedEndpoints,
  allowedEndpoints,
  guardedLookup,
} from "../../../src/platform/addresses/allowed-endpoints.ts";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { toKafka } from "../../../src/platform/export/kafka.ts";
import { broker, misleading, naming, neighbour, quiet, secret } from "./hostile-broker.ts";

const MIB = 1_048_576;
const window = { period: { from: 0, to: 60_000 }, total: 1, lines: [{ id: "1", time: 0, text: "{}" }] };
const lookupIn =
  ({ allows, allowsAddress = () => true }: Pick<AllowedEndpoints, "allows"> & Partial<AllowedEndpoints>) =>
  (url: URL) =>
    guardedLookup({ allows, allowsAddress }, url);
const deliver = (brokers: string[], allowed: Pick<AllowedEndpoints, "allows"> & Partial<AllowedEndpoints>) =>
  toKafka({ ...secret, brokers, isAllowed: allowed.allows, lookup: lookupIn(allowed) }, () => {})
    .deliver(window)
    .catch((error: unknown) => error);

describe("a broker of a tenant", () => {
  it("is not connected to by a name that leads inside, as no other endpoint is", async () => {
    await using inside = await neighbour();
    const allowed = allowedEndpoints([`https://*:${inside.port}`]);
    expect(allowed.allowsAddress(new URL(`https://localhost:${inside.port}`), "127.0.0.1")).toBe(false);
    await deliver([`localhost:${inside.port}`], allowed);
    expect(inside.connections()).toBe(0);
  });

  it("by a name that leads inside is named with the way out, in the same words as a name that leads nowhere", async () => {
    await using inside = await neighbour();
    const allowed = allowedEndpoints([`https://*:${inside.port}`, `https://*.invalid:${inside.port}`]);
    for (const broker of [`localhost:${inside.port}`, `no.invalid:${inside.port}`]) {
      const error = await deliver([broker], allowed);
      const way = `ask the administrator to allow https://${broker} (--allow-endpoint)`;
      expect(error).toBeInstanceOf(Retry);
      expect(String(error)).toContain(
        `the broker ${broker} has no address that is allowed here: correct it, or ${way}`,
      );
    }
  });

  it("leads to no other broker that is not allowed when it is asked again, after records were lost", async () => {
    await using inside = await neighbour();
    await using hostile = await naming((own) => [own, inside.port]);
    const allowed = allowedEndpoints([`https://127.0.0.1:${hostile.port}`]);
    expect(allowed.allows(`https://127.0.0.1:${inside.port}`)).toBe(false);
    await deliver([`127.0.0.1:${hostile.port}`], allowed);
    expect(inside.connections()).toBe(0);
  });

  it.each(misleading)("that has %s does not end the operator", async (_, topics) => {
    await using hostile = await naming((own) => [own], topics);
    const allowed = allowedEndpoints([`https://127.0.0.1:${hostile.port}`]);
    const error = await deliver([`127.0.0.1:${hostile.port}`], allowed);
    expect(error).toBeInstanceOf(Retry);
    expect(String(error)).toContain("an answer of the brokers cannot be understood");
  });

  it("that knows no question is not asked without end", async () => {
    await using hostile = await naming((own) => [own], [], []);
    const error = await deliver([`127.0.0.1:${hostile.port}`], allowedEndpoints([`https://127.0.0.1:${hostile.port}`]));
    expect(String(error)).toContain("the brokers have the same question asked without end");
  });

  it("that answers without end does not fill the memory", async () => {
    let sent = 0;
    const chunk = Buffer.alloc(MIB, 1);
    await using hostile = await broker((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.from([0x7f, 0xff, 0xff, 0xff]));
        const more = (error?: Error | null) => {
          if (sent >= 192 * MIB) socket.destroy();
          if (error || socket.destroyed) return;
          sent += MIB;
          socket.write(chunk, more);
        };
        more();
      });
    });
    await deliver([`127.0.0.1:${hostile.port}`], { allows: () => true });
    expect(sent).toBeLessThan(48 * MIB);
  });

  it("that does not answer takes no more time when there are many of them", async () => {
    const silent = await Promise.all(Array.from({ length: 8 }, () => quiet()));
    const brokers = silent.map(({ port }) => `127.0.0.1:${port}`);
    const times = { answerMs: 200, deliveryMs: 300 };
    const error = await toKafka({ ...secret, brokers, isAllowed: () => true }, () => {}, times)
      .deliver(window)
      .catch((why: unknown) => why);
    expect(String(error)).toContain("the brokers do not answer");
    expect(silent.reduce((sum, { connections }) => sum + connections(), 0)).toBeLessThan(8);
    for (const each of silent) await each[Symbol.asyncDispose]();
  });
});
