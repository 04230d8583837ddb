import { z } from "zod";
import { noEffects } from "../http/effects.ts";
import type { Call, Method, Route } from "../http/exchange.ts";
import { targetOf } from "../http/incoming.ts";
import { createRouter } from "../http/router.ts";
import type { User } from "../users.ts";
import type { World } from "../world.ts";

const made = z.looseObject({ id: z.string() });

/** Calls of the owner from inside the process: the same as over HTTP, but not counted and without faults. */
export function createInsideCaller(world: World, routes: readonly Route[], origin: string) {
  const user = ownerOf(world);
  const match = createRouter(routes);
  const { contractNumber, clock, agenda, documents } = world;

  async function call(method: Method, url: string, body?: unknown): Promise<unknown> {
    const { path, query } = targetOf(url);
    const found = match(method, path);
    if (found.kind !== "route") throw new Error(`there is no ${method} ${path}`);
    const { route, params } = found;
    const given: Call = {
      ...{ method, path, params, query, origin, headers: {}, from: "127.0.0.1", at: clock.now(), effects: noEffects },
      body: body === undefined ? "" : JSON.stringify(body),
      caller: { contractNumber, user, tokenId: "" },
    };
    await route.prepare?.(given);
    return documents.transaction(() =>
      world.viewer.as(user, () => world.activity.called(given, route, () => route.handle(given)).body),
    );
  }

  /** Advances the clock by two minutes: by then every request has ended. */
  function waitForRequests(): void {
    clock.advance(120_000);
    agenda.run();
  }

  return {
    user,
    call,
    /** Makes a call and waits until its request has ended. */
    async done(method: Method, url: string, body?: unknown): Promise<unknown> {
      const answer = await call(method, url, body);
      waitForRequests();
      return answer;
    },
    /** Creates a resource and waits until it is ready; returns its path. */
    async made(collection: string, properties: object, more: object = {}): Promise<string> {
      const { id } = made.parse(await call("POST", collection, { properties, ...more }));
      waitForRequests();
      return `${collection}/${id}`;
    },
  };
}

function ownerOf({ identity, contractNumber }: World): User {
  const owner = [...identity.users.values()].find(({ role }) => role === "owner");
  if (owner === undefined) throw new Error(`the contract ${contractNumber} has no owner`);
  return owner;
}

export type InsideCaller = ReturnType<typeof createInsideCaller>;
