import { describe, expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../src/kinds/index.ts";
import { hasResource } from "../../src/kinds/kind.ts";
import type { Ground } from "../cluster/hands.ts";
import { platformForFile } from "../simulator/platform.ts";
import { subjects } from "./index.ts";

const NAME = "typed";
const typed = z.looseObject({ id: z.string(), type: z.string() });
const listed = z.looseObject({ items: z.array(typed) });
const connected = typed.extend({ entities: z.looseObject({ nics: z.looseObject({ items: z.tuple([typed]) }) }) });

const platform = await platformForFile();

/** What a subject makes on the platform, by its own wire body. */
async function make(kind: string, ground: Ground): Promise<unknown> {
  const wire = subjects.find((subject) => subject.kind === kind)?.wire;
  if (!wire) throw new Error(`${kind} has no wire body in test/subjects`);
  const path = wire.path(ground, NAME);
  if (!wire.body) return listed.parse((await platform.call("GET", path)).body).items[0];
  const answer = await platform.call("POST", wire.creation?.(ground, NAME) ?? path, wire.body(NAME, ground));
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  await platform.advance(120);
  return answer.body;
}

const ground: Ground = {
  datacenter: "",
  volume: "",
  server: "",
  nics: {},
  lan: "",
  cluster: "",
  regions: { [NAME]: "de-txl" },
};
const idOf = async (kind: string) => typed.parse(await make(kind, ground)).id;
ground.datacenter = await idOf("Datacenter");
ground.volume = await idOf("Volume");
const host = connected.parse(await make("Server", ground));
ground.server = host.id;
ground.nics = { [NAME]: host.entities.nics.items[0].id };
ground.lan = await idOf("Lan");
ground.cluster = await idOf("KafkaCluster");

describe("recovery finds what an interrupted creation made by the platform's own word for it", () => {
  // Tokens are shown without a type.
  const typed = kinds.filter(hasResource).filter(({ resource }) => resource.place.product !== "auth");
  it.each(typed)("$kind; if not: names.type of the kind", async ({ kind, resource }) => {
    expect(await make(kind, ground)).toMatchObject({ type: resource.names.type });
  });
});
