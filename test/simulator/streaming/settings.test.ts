import { expect, it } from "vitest";
import { clientAddress, nodesOn, settingsOf } from "../../../src/simulator/streaming/kafka/settings.ts";

it("no client without a certificate, and none without TLS, has a way to a broker", () => {
  const nodes = nodesOn([1, 2, 3, 4, 5, 6]);
  for (const node of nodes) {
    const lines = settingsOf(node, nodes, { data: "/data", keystore: "/key", truststore: "/ca" }).split("\n");
    const settings = new Map(
      lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
    );
    const protocols = new Map(
      settings
        .get("listener.security.protocol.map")
        ?.split(",")
        .map((each): [string, string] => {
          const [listener = "", protocol = ""] = each.split(":");
          return [listener, protocol];
        }),
    );
    const [client] = settings.get("listeners")?.split(",") ?? [];
    expect(client).toBe(`CLIENT://${clientAddress(node)}`);
    expect([protocols.get("CLIENT"), settings.get("ssl.client.auth")]).toEqual(["SSL", "required"]);
    expect(settings.get("ssl.truststore.location")).toBe("/ca");
    expect([...protocols.values()].filter((each) => each.startsWith("SASL"))).toEqual([]);
  }
});
