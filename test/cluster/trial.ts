import type { ExpectStatic } from "vitest";
import { z } from "zod";
import type { Ground } from "./ground.ts";
import type { Subject } from "./kinds-under-test.ts";
import type { Landscape } from "./landscape.ts";
import type { Found } from "./steering.ts";

/** One kind in the contract tests: actions on its objects and, with the kind's hands, on their resources. */
export interface Trial extends Omit<Subject, "hands"> {
  /** The name of the kind for kubectl. */
  readonly word: string;
  /** The name of an object, and its name for kubectl. */
  name(role: string): string;
  ref(role: string): string;
  /** As in Hands; impossible actions are skipped. */
  there(role: string): Promise<Found[]>;
  effects(role: string): Promise<Found[]>;
  madeAt(role: string): Promise<string | undefined>;
  tamper(role: string): Promise<void>;
  erase(role: string): Promise<void>;
  /** Creates a resource that Mooring does not know, and returns its id once it exists. */
  createByHand(role: string): Promise<string>;
  untilMadeAnew(role: string, before: string | undefined): Promise<void>;
  /** Annotates the object. */
  annotate(role: string, annotation: string): Promise<void>;
  /** How many Events of the object have this reason and message. */
  eventCount(role: string, reason: string, message: RegExp): Promise<number>;
}

const events = z.looseObject({ items: z.array(z.looseObject({ message: z.string(), count: z.int() })) });

/** `expect` must be the test's own, because tests run concurrently. */
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
      // A permanent resource need not have a state.
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
