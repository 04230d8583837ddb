import { describe, expect, test } from "vitest";
import { readStatus, readyOf as readyIn } from "../../../src/engine/status/status.ts";
import { objectOf } from "../support/fixtures.ts";
import { type Life, ownedBlock, ownedServer, readyOf } from "../support/lives.ts";
import { stage } from "../support/stage.ts";

/** Passes like those of the queue, until nothing is left to do. */
async function untilReady({ all, key }: Pick<Life, "all" | "key">): Promise<void> {
  for (let passes = 0; passes < 20; passes++) {
    all.sync();
    await all.passes(key);
    await all.clock.advance(2000);
  }
}

const reported = ({ all }: Pick<Life, "all">, reason: string) =>
  all.events.filter((event) => event.includes(` ${reason} `));

describe("the Events of a creation", () => {
  test("are Creating when the platform has accepted it, and Created once the resource was seen at rest", async () => {
    const object = objectOf("Datacenter", "a", { spec: { location: "de/txl" } });
    const all = stage([object]);
    const life = { all, key: "Datacenter/shop/a" };
    await all.pass(life.key);
    expect(all.events.map((event) => event.split(" ")[1])).toEqual(["Creating"]);
    const { id } = readStatus(all.api.get(object) ?? object);
    await untilReady(life);
    expect(readyIn(all.api.get(object) ?? object)).toMatchObject({ status: "True" });
    expect(reported(life, "Creating")).toEqual([expect.stringMatching(`Normal Creating creating Datacenter ${id}`)]);
    expect(reported(life, "Created")).toEqual([`Normal Created Created Datacenter ${id}`]);
  });
});

describe("drift that was corrected", () => {
  /** An object at rest whose resource is then changed by somebody else. */
  async function drifted(life: Life & { id?: string }, change: object): Promise<void> {
    await untilReady(life);
    expect(readyOf(life)).toMatchObject({ status: "True" });
    const { platform, events, deps } = life.all;
    events.length = 0;
    const item = platform.items.get(life.id ?? "dc-a-0");
    if (!item) throw new Error("the resource is not there");
    item.properties = { ...item.properties, ...change };
    deps.collections.refresh(life.key);
    await life.all.clock.advance(10_000);
    await untilReady(life);
  }

  test("leaves one Event with the field and both values, and is counted", async () => {
    const life = ownedBlock(false);
    await drifted(life, { name: "renamed by hand" });
    expect(readyOf(life)).toMatchObject({ status: "True" });
    expect(reported(life, "DriftCorrected")).toEqual([
      "Normal DriftCorrected corrected drift: name from renamed by hand back to a",
    ]);
    expect(life.all.corrected).toEqual(["IPBlock"]);
  });

  test("of several fields and steps is reported as a whole, or step by step", async () => {
    const life = ownedServer(false);
    await drifted(life, { cores: 8, ram: 4096 });
    const said = reported(life, "DriftCorrected").join();
    expect(said).toContain("cores from 8 back to 2");
    expect(said).toContain("ram from 4096 back to 2048");
  });

  test("is not what an edit of spec has led to", async () => {
    const life = ownedBlock(false);
    await untilReady(life);
    const now = life.all.api.get(life.object) ?? life.object;
    const metadata = { ...now.metadata, generation: (now.metadata.generation ?? 1) + 1 };
    life.all.api.put({ ...now, metadata, spec: { location: "de/txl", size: 1, name: "b" } });
    await untilReady(life);
    expect(readyOf(life)).toMatchObject({ status: "True" });
    expect(reported(life, "Updated")).toHaveLength(1);
    expect(reported(life, "DriftCorrected")).toEqual([]);
    expect(life.all.corrected).toEqual([]);
  });
});
