import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { identityOf } from "../../../../src/platform/collections/numbered.ts";
import { objectOf } from "../../support/fixtures.ts";
import { DC } from "../../support/lives.ts";
import { SETTINGS } from "../../support/stage.ts";
import { type World, world } from "../../support/world.ts";
import { type Choose, EVERY_FATE, type Fate } from "../../support/world-links.ts";

/** More runs, for a manual search for rare failures. */
const MORE = Number(process.env.PROTOCOL_RUNS ?? 1);

/** Takes its choices from a list of numbers. After the last one, everything succeeds. */
function choicesOf(numbers: readonly number[]) {
  let next = 0;
  let muted = false;
  const choose: Choose = (first, ...others) =>
    muted ? first : ([first, ...others][(numbers[next++] ?? 0) % (others.length + 1)] ?? first);
  return {
    choose,
    /** While it is muted, everything succeeds. */
    mute(until: boolean) {
      muted = until;
    },
    get muted() {
      return muted;
    },
    get left() {
      return Math.max(0, numbers.length - next);
    },
  };
}

type Happening =
  | "a step"
  | "many steps"
  | "a crash"
  | "another leader"
  | "time"
  | "much time"
  | "a deletion"
  | "a move"
  | "a removal by hand";
type Made = ReturnType<typeof objectOf>;

interface Scenario {
  objects: () => [Made, ...Made[]];
  deletions: boolean;
  /** All objects are Ready and at rest when the faults start. */
  settled?: boolean;
  fates?: readonly Fate[];
  /** Objects are spread over this many shards, and moved between them. */
  shards?: number;
}

function distinct({ owned }: World) {
  const ids = owned().flatMap(({ claim }) => (claim ? identityOf(claim) : []));
  expect(new Set(ids).size, `claims: ${JSON.stringify(owned())}`).toBe(ids.length);
}

async function comeToRest(here: World, objects: readonly Made[]) {
  const isOver = () => here.isAtRest() && here.owned().length === here.there().length;
  for (let round = 0; round < 400 && !isOver(); round++) {
    for (const object of objects) await here.step(object, true);
    await here.drain();
    await here.advance(2000);
    distinct(here);
  }
}

/** Plays the scenario, then lets everything come to rest. */
async function live(
  here: World,
  objects: [Made, ...Made[]],
  choices: ReturnType<typeof choicesOf>,
  { deletions, settled = false, shards = 1 }: Scenario,
) {
  const { choose } = choices;
  const others: Happening[] = [
    "a crash",
    "another leader",
    "another leader",
    "time",
    "time",
    "much time",
    ...Array<Happening>(7).fill("a step"),
    "many steps",
    "many steps",
    ...(deletions ? ["a deletion" as const] : []),
    ...(shards > 1 ? ["a move" as const, "a move" as const] : []),
    ...(settled ? ["a removal by hand" as const] : []),
  ];
  choices.mute(settled);
  if (settled) await comeToRest(here, objects);
  choices.mute(false);
  if (settled) for (const object of objects) choose(here.remove, here.remove, here.removeByHand)(object);
  while (choices.left > 0) {
    const happening = choose<Happening>("a step", ...others);
    const object = choose(...objects);
    if (happening === "a step") await here.step(object);
    if (happening === "many steps") for (let count = 0; count < 6; count++) await here.step(object);
    if (happening === "time") await here.advance(1500);
    if (happening === "much time") await here.advance(70_000);
    if (happening === "a deletion") here.remove(object);
    if (happening === "a move") here.move(object);
    if (happening === "a removal by hand") here.removeByHand(object);
    if (happening === "a crash") here.crash();
    if (happening === "another leader") await here.takeOver();
    distinct(here);
  }
  await comeToRest(here, objects);
}

function check(scenario: Scenario, numRuns: number, maxLength = 150) {
  const numbers = (least: number, most: number) =>
    fc.array(fc.nat(59), { minLength: least, maxLength: most, size: "max" });
  // The outcome of writes has its own list of choices; otherwise all late writes would succeed.
  const property = fc.asyncProperty(numbers(maxLength / 2, maxLength), numbers(0, 6), async (general, special) => {
    const all = scenario.objects();
    const choices = choicesOf(general);
    const ofWrites = choicesOf(special);
    const { fates = EVERY_FATE, shards = 1 } = scenario;
    const fate = () => (choices.muted ? "answered" : ofWrites.choose<Fate>("answered", ...fates));
    const trace: string[] = [];
    const met = (what: string, of = "") => {
      counts.set(what, (counts.get(what) ?? 0) + 1);
      trace.push(`${what} ${of}`);
    };
    const here = world(all, choices.choose, { fate, met, shards });
    try {
      await live(here, all, choices, scenario);
      const owned = here.owned().map(({ claim }) => claim?.id);
      expect(owned.toSorted()).toEqual(here.there().toSorted());
      expect(here.leaving()).toEqual([]);
      expect(here.isAtRest()).toBe(true);
    } catch (error) {
      throw new Error(`after: ${trace.slice(-60).join("\n")}`, { cause: error });
    } finally {
      here.close();
    }
  });
  // A shorter list of choices is another scenario, so a failure is reported as it was.
  return fc.assert(property, { numRuns: numRuns * MORE, endOnFailure: true });
}

const block = (name: string, body: string) =>
  objectOf("IPBlock", name, { spec: { name: body, location: "de/txl", size: 1, recreatePolicy: "WhenDeleted" } });
const lan = (name: string, body: string) => objectOf("Lan", name, { spec: { name: body, datacenterId: DC } });
const one = (): [Made] => [block("a", "body")];
const equals = (): [Made, ...Made[]] => [block("a", "body"), block("b", "body"), block("c", "body")];

const counts = new Map<string, number>();
const MUST_BE_MET = [
  ...["create", "search", "claim", "rest", "wait", "fail", "forget", "delete", "release", "recall", "a failed pass"],
  ...["a crash in the middle", "a restart in the same pod", "a restart in another pod", "two leaders at once"],
  ...["a move in the middle", "a pass of the shard before"],
  ...["answered", ...EVERY_FATE].flatMap((fate) => [`POST ${fate}`, `DELETE ${fate}`]),
  ...["written", "written, answer lost", "not written"].flatMap((fate) => [`status ${fate}`, `metadata ${fate}`]),
];

/** Many scenarios are slow on a busy machine. */
const timeout = 120_000 * MORE;

describe("a creation that is executed at the last moment, and logged as late as can be", () => {
  /** Everything succeeds except this. */
  const latest: Choose = (first, ...others) => others.find((each) => each === SETTINGS.settleMs) ?? first;

  test.each<[string, (here: World) => unknown]>([
    ["whose leader is frozen, while one of another pod goes on", (here) => here.takeOver()],
    ["whose process is killed, and restarted in the same pod", (here) => here.crash()],
  ])("%s, is found and not made again", async (_, end) => {
    const fates: Fate[] = ["executed late"];
    const sent: string[] = [];
    const met = (what: string) => void (what.startsWith("POST ") && sent.push(what));
    const objects = one();
    const here = world(objects, latest, { fate: () => fates.shift() ?? "answered", met });
    try {
      for (let steps = 0; steps < 20 && sent.length === 0; steps++) await here.step(objects[0], true);
      await end(here);
      await comeToRest(here, objects);
      expect(sent).toEqual(["POST executed late"]);
      expect(here.owned().map(({ claim }) => claim?.id)).toEqual(here.there());
      expect(here.isAtRest()).toBe(true);
    } finally {
      here.close();
    }
  });
});

describe("with lost, late and interrupted calls", { timeout }, () => {
  test("an object has exactly one resource in the end", () => check({ objects: one, deletions: false }, 40));

  test("a deleted object leaves nothing behind", () => check({ objects: one, deletions: true }, 40));

  test("objects with different bodies never take what is the other's", () =>
    check({ objects: () => [block("a", "one"), block("b", "two")], deletions: true }, 25));

  test("objects with equal bodies have exactly one resource each", () =>
    check({ objects: equals, deletions: false }, 30, 250));

  test("of objects with equal bodies, the deleted ones leave nothing behind and take nothing from the others", () =>
    check({ objects: equals, deletions: true }, 30, 250));

  test("a creation that was put off is looked for as long as any other", () => {
    const fates: Fate[] = ["slow down", "slow down", "executed late", "answer lost"];
    return check({ objects: one, deletions: true, fates }, 30);
  });

  test("numbers that are given away again are nobody else's", () =>
    check({ objects: () => [lan("a", "one"), lan("b", "two")], deletions: true }, 30, 200));

  test("a resource at rest is deleted once, and created again when somebody has removed it", () =>
    check({ objects: () => [block("a", "one"), block("b", "two")], deletions: true, settled: true }, 50, 60));

  test("and so is what has a number", () =>
    check({ objects: () => [lan("a", "one"), lan("b", "two")], deletions: true, settled: true }, 50, 60));

  test("an object that is moved between shards has exactly one resource in the end, and leaves nothing behind", () =>
    check({ objects: one, deletions: true, shards: 2 }, 40));

  test("numbers of objects that are moved between shards are nobody else's", () =>
    check({ objects: () => [lan("a", "one"), lan("b", "two")], deletions: true, shards: 2 }, 30, 200));

  test("objects of two shards with equal bodies have exactly one resource each", () =>
    check({ objects: equals, deletions: false, shards: 2 }, 40, 250));

  test("of objects of two shards with equal bodies, the deleted ones leave nothing behind", () =>
    check({ objects: equals, deletions: true, shards: 2 }, 40, 250));

  test("all of this was met, and more than a few times", () => {
    const rare = MUST_BE_MET.filter((what) => (counts.get(what) ?? 0) < 5);
    expect(rare, JSON.stringify(Object.fromEntries(counts))).toEqual([]);
  });
});
