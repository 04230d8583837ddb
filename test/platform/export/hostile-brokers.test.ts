import { describe, expect, it } from "vitest";
import { allowedEndpoints } from "../../../src/platform/addresses/allowed-endpoints.ts";
import { toKafka } from "../../../src/platform/export/kafka.ts";
import { broker, naming, neighbour, secret } from "./hostile-broker.ts";

const MIB = 1_048_576;
const window = { period: { from: 0, to: 60_000 }, total: 1, lines: [{ id: "1", time: 0, text: "{}" }] };
const deliver = (brokers: string[], isAllowed: (url: string) => boolean) =>
  toKafka({ ...secret, brokers, isAllowed }, () => {})
    .deliver(window)
    .catch((error: unknown) => error);

describe("a broker of a tenant", () => {
  it("is not connected to by a name that leads inside, as no other endpoint is", async () => {
    await using inside = await neighbour();
    const { allows, allowsAddress } = allowedEndpoints([`https://*:${inside.port}`]);
    expect(allowsAddress(new URL(`https://localhost:${inside.port}`), "127.0.0.1")).toBe(false);
    await deliver([`localhost:${inside.port}`], allows);
    expect(inside.connections()).toBe(0);
  });

  it("leads to no other broker that is not allowed when it is asked again, after records were lost", async () => {
    await using inside = await neighbour();
    await using hostile = await naming((own) => [own, inside.port]);
    const { allows } = allowedEndpoints([`https://127.0.0.1:${hostile.port}`]);
    expect(allows(`https://127.0.0.1:${inside.port}`)).toBe(false);
    await deliver([`127.0.0.1:${hostile.port}`], allows);
    expect(inside.connections()).toBe(0);
  });

  it("that answers without end does not fill the memory", async () => {
    let sent = 0;
    const chunk = Buffer.alloc(MIB, 1);
    await using hostile = await broker((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.from([0x7f, 0xff, 0xff, 0xff]));
        const more = () => {
          if (sent >= 192 * MIB) socket.destroy();
          if (socket.destroyed) return;
          sent += MIB;
          socket.write(chunk, more);
        };
        more();
      });
    });
    await deliver([`127.0.0.1:${hostile.port}`], () => true);
    expect(sent).toBeLessThan(64 * MIB);
  });
});
