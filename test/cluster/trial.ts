import type { ExpectStatic } from "vitest";
import { z } from "zod";
import type { Ground } from "./hands.ts";
import type { Subject } from "./kinds-under-test.ts";
import type { Landscape } from "./landscape.ts";
import type { Found } from "./steering.ts";

/** One kind before the contract: what a test does to its objects and, with the kind's hands, to their resources. */
export interface Trial extends Omit<Subject, "hands"> {
  /** As kubectl calls the kind. */
  readonly word: string;
  /** The name of an object, and what kubectl calls the object. */
  name(role: string): string;
  ref(role: string): string;
  /** As in Hands; what cannot be done is left. */
  there(role: string): Promise<Found[]>;
  effects(role: string): Promise<Found[]>;
  madeAt(role: string): Promise<string | undefined>;
  tamper(role: string): Promise<void>;
  erase(role: string): Promise<void>;
  /** The id of one that Mooring knows nothing of, once it is there. */
  createByHand(role: string): Promise<string>;
  untilMadeAnew(role: string, before: string | undefined): Promise<void>;
  /** Annotates the object. */
  annotate(role: string, annotation: string): Promise<void>;
  /** How often Events of the object have said this. */
  eventCount(role: string, reason: string, message: RegExp): Promise<number>;
}

const events = z.looseObject({ items: z.array(z.looseObject({ message: z.string(), count: z.int() })) });

/** `expect` is that of the test: others run at the same time. */
export function trial(world: Landscape, ground: Ground, subject: Subject, expect: ExpectStatic): Trial {
  const { hands, ...rest } = subject;
  const { kind } = subject.kind;
  const word = kind.toLowerCase();
  const name = (role: string) => `${subject.prefix ?? word}-${role}`;
  const of = (role: string) => hands(world, ground, name(role));
  const there = (role: string) => of(role).there();
  const madeAt = async (role: string) => of(role).madeAt?.();
  return {
    ...rest,
    word,
    name,
    ref: (role) => `${word}/${name(role)}`,
    there,
    effects: (role) => of(role).effects(),
    madeAt,
    tamper: async (role) => of(role).tamper?.(),
    erase: async (role) => of(role).erase?.(),
    async createByHand(role) {
      const id = await of(role).createByHand();
      // What is always there need not show a state.
      const states = async () => (await there(role)).map(({ state = "AVAILABLE" }) => state);
      await expect.poll(states).toEqual(["AVAILABLE"]);
      return id;
    },
    async untilMadeAnew(role, before) {
      await expect.poll(() => madeAt(role)).not.toBe(before);
      await world.untilReady(`${word}/${name(role)}`);
    },
    async annotate(role, annotation) {
      await world.annotate(`${word}/${name(role)}`, annotation);
    },
    async eventCount(role, reason, message) {
      const about = `involvedObject.kind=${kind},involvedObject.name=${name(role)},reason=${reason}`;
      const { items } = events.parse(await world.get("events", about));
      return items.filter((each) => message.test(each.message)).reduce((sum, { count }) => sum + count, 0);
    },
  };
}
