import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { applyObject } from "../../../src/cli/demo/install.ts";
import { create, datacenter, populationOf, remove, server } from "../population.ts";
import { giveAccount, type Stage } from "../stage.ts";
import { untilSure } from "../waiting.ts";
import type { Scenario } from "./scenario.ts";

const QUIET = 50;
const NOISY = "noisy";

/** Fifty Servers of one tenant: alone, and while thousands of another one wait for a platform that never answers. */
export const measureNoisy: Scenario = async (stage, note) => {
  const alone = await quietTenant(stage, "alone");
  note("noisyAlone", alone);
  await using hanging = await hangingPlatform();
  const { client } = stage;
  await applyObject(client, { apiVersion: "v1", kind: "Namespace", metadata: { name: NOISY } });
  const endpoints = Object.fromEntries(Object.keys(stage.platform.endpoints).map((name) => [name, hanging.url]));
  await giveAccount(client, NOISY, endpoints, stage.platform.token);
  const { datacenters, servers } = populationOf(5 * stage.options.objects);
  const theirs = [...datacenters, ...servers];
  await create(
    client,
    theirs.map((object) => ({ ...object, metadata: { ...object.metadata, namespace: NOISY } })),
  );
  const withNoise = await quietTenant(stage, "beside");
  note("noisyHanging", withNoise);
  note("noisyRatio", withNoise / alone);
};

/** Seconds from apply to Ready. */
async function quietTenant({ client, witness }: Stage, name: string): Promise<number> {
  const servers = Array.from({ length: QUIET }, (_, index) => server(`${name}-${index}`, name));
  const objects = [datacenter(name), ...servers];
  const began = performance.now();
  await create(client, objects);
  const missing = () => (witness.ready === QUIET + 1 ? undefined : `${witness.ready} of ${QUIET + 1} Ready`);
  await untilSure(missing, { title: `noisy, ${name}`, seconds: 600 });
  const seconds = (performance.now() - began) / 1000;
  await remove(client, objects);
  await untilSure(() => (witness.count === 0 ? undefined : `${witness.count} left`), { title: "noisy", seconds: 600 });
  return seconds;
}

/** Takes every connection and never says a word. */
async function hangingPlatform(): Promise<{ url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const address = listener.address();
  return {
    url: `http://127.0.0.1:${isAddress(address) ? address.port : 0}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
}

const isAddress = (address: string | AddressInfo | null): address is AddressInfo =>
  typeof address === "object" && address !== null;
