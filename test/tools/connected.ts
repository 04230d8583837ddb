import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { PlatformReader, ReadCall } from "../../src/diagnostics/reader.ts";
import type { Reply } from "../../src/platform/calls/call.ts";
import type { Mode } from "../../src/tools/serve/modes.ts";
import { createToolServer, type ServerOptions } from "../../src/tools/serve/server.ts";

const noCluster = async () => {
  throw new Error("no cluster");
};

/** A platform with scripted answers, for any host. */
export function platformThat(answer: (call: ReadCall) => Promise<unknown>): ServerOptions["sources"] {
  const reader: PlatformReader = {
    read: async (call): Promise<Reply> => ({ status: 200, headers: {}, body: await answer(call) }),
    endpoint: (name) => `https://${name.toLowerCase()}.example`,
    has: () => true,
    identity: undefined,
    contractNumber: 1,
    now: () => Date.UTC(2026, 0, 1),
    storageKeys: async () => ({ accessKey: "a", secretKey: "s" }),
    storageRegion: undefined,
  };
  return { platform: async () => reader, cluster: noCluster, now: reader.now };
}

/** A client of a new tool server. It is closed with the test. */
export async function connected(
  mode: Mode,
  sources: ServerOptions["sources"] = platformThat(async () => ({ items: [] })),
) {
  const server = createToolServer({ version: "1.0.0", mode, sources });
  const client = new Client({ name: "test", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  onTestFinished(() => client.close());
  return client;
}

/** The first text of a result. */
export const textOf = (result: Awaited<ReturnType<Client["callTool"]>>) => {
  const [first] = result.content;
  return first?.type === "text" ? first.text : "";
};
