import type { ExpectStatic } from "vitest";
import { z } from "zod";
import type { Ground, Subject } from "./kinds-under-test.ts";
import type { Landscape } from "./landscape.ts";
import type { Found } from "./steering.ts";

/** One kind before the contract: what a test does to its objects and, without Mooring, to its resources. */
export interface Trial extends Subject {
  /** As kubectl calls the kind. */
  readonly word: string;
  /** The name of an object, and what kubectl calls the object. */
  name(role: string): string;
  ref(role: string): string;
  /** Resources whose name is that of the object, or begins with it. */
  there(role: string): Promise<Found[]>;
  /** When the only such resource was made. Ids may be used again, as the numbers of LANs are. */
  madeAt(role: string): Promise<string>;
  untilMadeAnew(role: string, before: string): Promise<void>;
  /** Creates, renames and deletes a resource without Mooring. */
  strange(role: string): Promise<string>;
  rename(role: string): Promise<void>;
  erase(role: string): Promise<void>;
  /** Annotates the object. */
  annotate(role: string, annotation: string): Promise<void>;
}

const created = z.looseObject({ id: z.string() });
const dated = z.looseObject({ createdDate: z.string() });

/** `expect` is that of the test: others run at the same time. */
export function trial(world: Landscape, ground: Ground, subject: Subject, expect: ExpectStatic): Trial {
  const { platform } = world;
  const word = subject.kind.kind.toLowerCase();
  const name = (role: string) => `${subject.prefix ?? word}-${role}`;
  const path = (role: string) => subject.path(ground, name(role));
  const there = async (role: string) =>
    (await platform.resources(subject.collection)).filter(({ properties }) => properties?.name?.startsWith(name(role)));
  const only = async (role: string): Promise<Found> => {
    const [found, ...others] = await there(role);
    if (!found || others.length > 0) throw new Error(`there are ${others.length + 1} of ${name(role)}, not 1`);
    return found;
  };
  const dates = async (role: string) => (await there(role)).map((each) => dated.parse(each).createdDate);
  return {
    ...subject,
    word,
    name,
    ref: (role) => `${word}/${name(role)}`,
    there,
    madeAt: async (role) => dated.parse(await only(role)).createdDate,
    async untilMadeAnew(role, before) {
      await expect.poll(() => dates(role)).toEqual([expect.not.stringMatching(before)]);
      await world.untilReady(`${word}/${name(role)}`);
    },
    async strange(role) {
      const at = subject.creation?.(ground) ?? path(role);
      const { id } = created.parse(await platform.call("POST", at, subject.body(name(role), ground)));
      await expect.poll(async () => (await only(role)).state).toBe("AVAILABLE");
      return id;
    },
    async rename(role) {
      const { id, properties } = await only(role);
      const renamed = { name: `${name(role)}-renamed` };
      const { product } = subject.kind.resource;
      // Most other products have no PATCH: a change carries everything.
      const method = product === "core" || product === "logging" ? "PATCH" : "PUT";
      const body = product === "core" ? renamed : { properties: { ...properties, ...renamed } };
      await platform.call(method, `${path(role)}/${id}`, body);
    },
    async erase(role) {
      const { id } = await only(role);
      await platform.call("DELETE", `${path(role)}/${id}?deleteVolumes=true`);
    },
    async annotate(role, annotation) {
      await world.kubectl("annotate", word, name(role), annotation, "--overwrite");
    },
  };
}
