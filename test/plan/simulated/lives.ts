import { z } from "zod";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { manifestsIn } from "../../../src/plan/inputs/manifests.ts";
import type { PlanItem } from "../../../src/plan/item.ts";
import type { Ground } from "../../cluster/ground.ts";
import { type Subject, subjects } from "../../cluster/kinds-under-test.ts";
import { objectOf } from "../../engine/support/fixtures.ts";
import { keyOf } from "../predicted.ts";
import { type Case, neededBy, type Version } from "./kind-case.ts";
import type { SimulatedWorld, Write } from "./world.ts";

const made = z.looseObject({ id: z.string() });
const listed = z
  .looseObject({ items: z.array(made) })
  .or(z.looseObject({ tokens: z.array(made) }).transform(({ tokens: items }) => ({ items })));
const shown = z.looseObject({ id: z.string(), nics: z.array(made).default([]) });
const generated = z.looseObject({ token: z.string() });
const keyId = z.looseObject({ kid: z.string() });

/** The objects as files. */
export const filesOf = (objects: readonly KubeObject[]) =>
  manifestsIn([{ from: "file", text: objects.map((each) => JSON.stringify(each)).join("\n---\n") }], "shop");

export interface Lived {
  item: PlanItem | undefined;
  /** The writes for the object, and those for all others. */
  writes: Write[];
  others: Write[];
}
export type Lives = Awaited<ReturnType<typeof createLives>>;

/** Lives of single objects, beside the objects that every kind needs. */
export async function createLives(world: SimulatedWorld) {
  const all = neededBy(subjects).map(({ kind, metadata: { name }, spec }) => objectOf(kind, name, { spec }));
  for (const each of all) world.know(each);
  world.apply(filesOf(all));
  await world.rest();
  const status = (kind: string, name: string) => {
    return shown.parse(world.live(objectOf(kind, name))?.status);
  };
  const [nic] = status("Server", "host-1").nics;
  const ground = (name: string): Ground => ({
    datacenter: status("Datacenter", "dc").id,
    volume: status("Volume", "source").id,
    server: status("Server", "host-1").id,
    lan: status("Lan", "brokers").id,
    cluster: status("KafkaCluster", "stream").id,
    nics: { [name]: nic?.id ?? "" },
    regions: { [name]: "de-txl" },
  });
  const pathOf = ({ wire }: Subject, name: string) => wire?.path(ground(name), name) ?? "";
  const idsAt = async (path: string) => listed.parse(await world.call("GET", path)).items.map(({ id }) => id);
  const first = new Map<string, ReadonlySet<string>>();
  for (const subject of subjects) {
    const path = pathOf(subject, "x");
    first.set(path, new Set(await idsAt(path)));
  }

  /** A resource without an object. */
  async function foundBy(subject: Subject, name: string): Promise<string> {
    const { wire } = subject;
    const path = pathOf(subject, name);
    if (path.endsWith("/tokens")) {
      const { token } = generated.parse(await world.call("GET", `${path}/generate?ttl=86400`));
      return keyId.parse(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString())).kid;
    }
    const body = wire?.body?.(name, ground(name));
    if (!body) return (await idsAt(path))[0] ?? "";
    const { id } = made.parse(await world.call("POST", wire?.creation?.(ground(name), name) ?? path, body));
    await world.idle();
    return id;
  }

  const own: KubeObject[] = [];
  let runs = 0;

  function versionOf(
    subject: Subject,
    name: string,
    given: Case,
    version: Version,
    id: string | undefined,
  ): KubeObject {
    const { deletionPolicy, replacePolicy, mayLose, isSelected } = given;
    const { mode, spec } = version;
    const policies = "deletionPolicy" in subject.kind.spec.shape ? { deletionPolicy } : {};
    return objectOf(subject.kind.kind, name, {
      metadata: {
        name,
        labels: { selected: String(isSelected) },
        ...(mayLose && { annotations: { "mooring.dev/allow-data-loss": "true" } }),
      },
      spec: {
        ...policies,
        ...("replacePolicy" in subject.kind.spec.shape && { replacePolicy }),
        ...spec,
        ...(mode !== "create" && { externalId: id }),
        ...(mode === "observe" && { managementPolicy: "Observe" }),
      },
    });
  }

  return {
    /** One object before, planned and after. */
    async live(subject: Subject, given: Case): Promise<Lived> {
      const { before, after, how, isSelected, isThere, account } = given;
      const { kind } = subject;
      const name = `${subject.prefix ?? "one"}-${++runs}`;
      const isFound = [before, after].some((each) => each && each.mode !== "create");
      // The platform refuses a second one beside what was found.
      const isAlone =
        kind.resource.identity.onePer === undefined || ![before, after].some((each) => each?.mode === "create");
      const id = !isFound ? undefined : isThere && isAlone ? await foundBy(subject, `found-${runs}`) : subject.nobody;
      const first = before && versionOf(subject, name, given, before, id);
      const then = after && versionOf(subject, name, given, after, id);
      const named = then && account ? { ...then, spec: { ...Object(then.spec), accountRef: { name: account } } } : then;
      const one = first ?? named;
      if (!one) return { item: undefined, writes: [], others: [] };
      world.know(one);
      own.push(one);
      if (first) {
        world.apply(filesOf([first]));
        await world.rest();
      }
      const isDestroyed = how === "destroy";
      // Without a file in the namespace, nothing is pruned there.
      const kept = all.filter((each) => keyOf(each) === "Datacenter/shop/dc");
      const files = filesOf(isDestroyed ? (first ? [first] : []) : [...kept, ...(named ? [named] : [])]);
      const items = await world.plan(files, {
        ...(how === "prune" && { prune: "selected=true" }),
        destroy: isDestroyed,
      });
      const isPruned = how === "prune" && !named && isSelected;
      world.writes.length = 0;
      world.apply(isDestroyed ? { ...files, objects: [] } : files, first && (isDestroyed || isPruned) ? [first] : []);
      await world.rest();
      const key = keyOf(one);
      return {
        item: items.find((each) => `${each.kind}/${each.namespace}/${each.name}` === key),
        writes: world.writes.filter(({ object }) => object === key),
        others: world.writes.filter(({ object }) => object !== key),
      };
    },
    /** Deletes what the last life has left. */
    async clear(): Promise<void> {
      const gone = own.splice(0);
      for (const each of gone) {
        const live = world.live(each);
        if (!live) continue;
        const annotations = { ...live.metadata.annotations, "mooring.dev/allow-data-loss": "true" };
        world.life.api.put({
          ...live,
          metadata: { ...live.metadata, annotations },
          spec: { ...Object(live.spec), deletionPolicy: "Delete" },
        });
        world.remove(each);
      }
      if (gone.length > 0) await world.rest();
      world.forget(gone);
      await world.collectSecrets();
      for (const { kind } of gone) {
        const subject = subjects.find((each) => each.kind.kind === kind);
        if (!subject || subject.kind.resource.identity.permanent || !subject.wire?.body) continue;
        const path = pathOf(subject, "x");
        for (const id of await idsAt(path)) {
          if (!first.get(path)?.has(id)) await world.call("DELETE", `${path}/${id}`);
        }
      }
      await world.idle();
    },
  };
}
