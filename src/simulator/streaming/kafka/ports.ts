import { createServer, type Server } from "node:net";
import { addressOf } from "../../http/serve.ts";

/** The ports of an earlier run when all of them are still free, else others that are. */
export async function freePorts(count: number, earlier: readonly number[] | undefined): Promise<readonly number[]> {
  if (earlier?.length === count) {
    try {
      return await probed(earlier);
    } catch {
      // One of them is taken.
    }
  }
  return probed(Array.from({ length: count }, () => 0));
}

/**
 * Kafka cannot choose ports and report them. All are opened at the same time, so that they differ, and then closed.
 */
async function probed(wanted: readonly number[]): Promise<number[]> {
  const servers: Server[] = [];
  try {
    const ports: number[] = [];
    for (const port of wanted) {
      const server = createServer();
      servers.push(server);
      ports.push(Number((await addressOf(server, "127.0.0.1", port)).split(":")[1]));
    }
    return ports;
  } finally {
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}
