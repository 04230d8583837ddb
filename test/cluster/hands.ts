import { z } from "zod";
import type { Kind } from "../../src/kinds/kind.ts";
import type { Ground } from "./ground.ts";
import type { Landscape } from "./landscape.ts";
import type { Found } from "./steering.ts";

/** Reads and changes of an object's resource without Mooring. */
export interface Hands {
  /** The resources of the object on the platform. */
  there(): Promise<Found[]>;
  /** Everything that exists because of the object. */
  effects(): Promise<Found[]>;
  /** Creates a resource that Mooring does not know, and returns its id. */
  createByHand(): Promise<string>;
  /** Distinguishes a resource from the next one in its place; absent if there can be none. */
  madeAt?(): Promise<string>;
  /** Changes the resource, and removes it or its effect; absent if that is impossible. */
  tamper?(): Promise<void>;
  erase?(): Promise<void>;
}

/** The path of the resource for the object of this name. */
type Where = (ground: Ground, name: string) => string;

/** A resource in the platform's format. */
export interface Wire {
  /** The collection in the simulator's state. */
  collection: string;
  path: Where;
  /** The path of its creation, if that differs. */
  creation?: Where;
  /** The body of a creation that matches spec; absent if it cannot be created. */
  body?(name: string, ground: Ground): object;
}

/** The hands for the object of this name. */
export type HandsFor = (wire: Wire) => (world: Landscape, ground: Ground, name: string) => Hands;

const created = z.looseObject({ id: z.string() });
const dated = z.looseObject({ createdDate: z.string() });
const listed = z.looseObject({ items: z.array(z.looseObject({ id: z.string(), properties: z.looseObject({}) })) });
/** A resource without a list and an id. */
const alone = z.looseObject({ properties: z.looseObject({}) });
const secrets = z.looseObject({
  items: z.array(
    z.looseObject({ metadata: z.looseObject({ uid: z.string() }), data: z.record(z.string(), z.string()) }),
  ),
});

function only<T>(found: readonly T[]): T {
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) throw new Error(`there are ${found.length}, not 1`);
  return first;
}

/** For ordinary resources: those whose name is, or begins with, the name of the object. */
export const named: HandsFor =
  (wire) =>
  ({ platform }, ground, name) => {
    const path = wire.path(ground, name);
    const there = async () =>
      (await platform.resources(wire.collection)).filter(({ properties }) => properties?.name?.startsWith(name));
    return {
      there,
      effects: there,
      async createByHand() {
        const at = wire.creation?.(ground, name) ?? path;
        return created.parse(await platform.call("POST", at, wire.body?.(name, ground))).id;
      },
      // Some ids are reused, such as LAN numbers.
      madeAt: async () => dated.parse(only(await there())).createdDate,
      async tamper() {
        const { id, properties } = only(await there());
        const renamed = { name: `${name}-renamed` };
        const isCore = path.startsWith("/cloudapi/");
        // Most other products have no PATCH, so a change needs the whole body.
        const method = isCore || path.startsWith("/logging/") ? "PATCH" : "PUT";
        await platform.call(method, `${path}/${id}`, isCore ? renamed : { properties: { ...properties, ...renamed } });
      },
      async erase() {
        await platform.call("DELETE", `${path}/${only(await there()).id}?deleteVolumes=true`);
      },
    };
  };

const generated = z.looseObject({ token: z.string() });
const tokens = z.looseObject({
  tokens: z.array(z.looseObject({ id: z.string(), createdDate: z.string(), expirationDate: z.string() })),
});
const keyId = z.looseObject({ kid: z.string() });
const owners = z.looseObject({
  items: z.array(
    z.looseObject({
      status: z.looseObject({ id: z.string().optional(), previous: z.looseObject({ id: z.string() }).optional() }),
    }),
  ),
});
const events = z.looseObject({ items: z.array(z.looseObject({ message: z.string() })) });

/** For tokens, which have no name: those that Events of the object mention, and the one created by hand. */
export const remembered = ({ kind, plural }: Pick<Kind, "kind" | "plural">, ttl: number): HandsFor => {
  const byHand = new Map<string, string>();
  return (wire) => (world, ground, name) => {
    const path = wire.path(ground, name);
    const there = async () => {
      const { items } = owners.parse(await world.get(plural, `metadata.name=${name}`));
      const about = `involvedObject.kind=${kind},involvedObject.name=${name},reason=Created`;
      const reported = events.parse(await world.get("events", about)).items.map(({ message }) => message.split(" ")[2]);
      const own = new Set([...reported, byHand.get(name), ...items.map(({ status }) => status.id)]);
      const previous = new Set(items.map(({ status }) => status.previous?.id));
      return tokens.parse(await world.platform.call("GET", path)).tokens.flatMap(({ id, ...dates }) => {
        const lives = (Date.parse(dates.expirationDate) - Date.parse(dates.createdDate)) / 1000;
        return own.has(id) && !previous.has(id) ? [{ id, properties: { ttl: lives } }] : [];
      });
    };
    return {
      there,
      effects: there,
      async createByHand() {
        const { token } = generated.parse(await world.platform.call("GET", `${path}/generate?ttl=${ttl}`));
        const { kid } = keyId.parse(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()));
        byHand.set(name, kid);
        return kid;
      },
      madeAt: async () => only(await there()).id,
      async erase() {
        await world.platform.call("DELETE", `${path}/${only(await there()).id}`);
      },
    };
  };
};

/** For a switch: it always exists, once per place, and is off at first. */
export const switched: HandsFor =
  (wire) =>
  ({ platform }, ground, name) => {
    const path = wire.path(ground, name);
    const there = async () => {
      const answer = await platform.call("GET", path);
      return listed.safeParse(answer).data?.items ?? [{ id: "central", properties: alone.parse(answer).properties }];
    };
    const switchOff = async () => {
      const { id } = only(await there());
      const at = id === "central" ? path : `${path}/${id}`;
      await platform.call("PUT", at, { properties: { enabled: false } });
    };
    return {
      there,
      effects: async () => (await there()).filter(({ properties }) => properties.enabled),
      createByHand: async () => only(await there()).id,
      tamper: switchOff,
      erase: switchOff,
    };
  };

/** For resources that belong to another one, never change, and are only published in a Secret. */
export const given =
  (word: string): HandsFor =>
  (wire) =>
  (world, ground, name) => {
    const there = async () => listed.parse(await world.platform.call("GET", wire.path(ground, name))).items;
    return {
      there,
      async effects() {
        const { items } = secrets.parse(await world.get("secrets", `metadata.name=${name}-${word}`));
        return items.map(({ metadata: { uid: id }, data: properties }) => ({ id, properties }));
      },
      createByHand: async () => only(await there()).id,
      madeAt: () => world.value(`${word}/${name}`, "{.status.id}"),
    };
  };
