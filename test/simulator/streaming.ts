import { expect, vi } from "vitest";
import { z } from "zod";
import { networkOf } from "./network.ts";
import { type Answer, type CallOptions, type Platform, resource } from "./platform.ts";

const accessShape = z.looseObject({
  metadata: z.looseObject({ certificateAuthority: z.string(), certificate: z.string(), privateKey: z.string() }),
});
const usersShape = z.looseObject({ items: z.tuple([z.looseObject({ id: z.string() })]) });

export type Streaming = Awaited<ReturnType<typeof streamingOf>>;

/** Event streaming of a platform, in one region and with a LAN for the brokers. */
export async function streamingOf(platform: Platform, region = "de-fra") {
  const datacenter = await platform.datacenter();
  const lanId = String(await networkOf(platform).lan(datacenter));
  const connection = {
    datacenterId: datacenter.split("/").at(-1),
    lanId,
    brokerAddresses: ["192.168.1.101/24", "192.168.1.102/24", "192.168.1.103/24"],
  };

  const call = (method: string, path: string, body?: unknown, options?: CallOptions) =>
    platform.call(method, `/streaming/${region}${path}`, body, options);

  const body = (properties: object = {}) => ({
    properties: { name: "events", version: "4.0.0", size: "S", connections: [connection], ...properties },
  });

  /** A new cluster whose time of deployment is over; its path. */
  async function cluster(properties: object = {}): Promise<string> {
    const answer = await call("POST", "/clusters", body(properties));
    expect(answer).toMatchObject({ status: 201 });
    await platform.advance(30);
    return `/clusters/${resource(answer).id}`;
  }

  /** A new topic whose time of deployment is over; its path. */
  async function topic(clusterPath: string, properties: object): Promise<string> {
    const answer = await call("POST", `${clusterPath}/topics`, { properties });
    expect(answer).toMatchObject({ status: 201 });
    await platform.advance(5);
    return `${clusterPath}/topics/${resource(answer).id}`;
  }

  async function userOf(clusterPath: string): Promise<string> {
    return usersShape.parse((await call("GET", `${clusterPath}/users`)).body).items[0].id;
  }

  return {
    connection,
    call,
    body,
    cluster,
    topic,
    userOf,
    /** The certificate, key and authority for the brokers of a cluster. */
    async access(clusterPath: string) {
      const answer = await call("GET", `${clusterPath}/users/${await userOf(clusterPath)}/access`);
      expect(answer).toMatchObject({ status: 200 });
      return accessShape.parse(answer.body).metadata;
    },
    state: async (path: string) => stateOf(await call("GET", path)),
    /** Waits for the brokers, which live in real time and may have to be fetched first. */
    async untilAvailable(path: string): Promise<void> {
      const isAvailable = async () => {
        const { state, message } = resource(await call("GET", path)).metadata;
        if (state === "FAILED") throw new Error(`${path} is FAILED: ${message}`);
        return state === "AVAILABLE";
      };
      await vi.waitUntil(isAvailable, { timeout: 10 * 60_000 });
    },
  };
}

export const stateOf = (answer: Answer) => resource(answer).metadata.state;
