import { beforeAll, describe, type ExpectStatic, expect, it } from "vitest";
import { z } from "zod";
import { kinds } from "../../../src/kinds/index.ts";
import { hasResource } from "../../../src/kinds/kind.ts";
import { applyGround, type Ground } from "../ground.ts";
import { type Subject, subjects } from "../kinds-under-test.ts";
import { api, type Landscape, landscape } from "../landscape.ts";
import { datacenter, kafkaCluster, lan, volume } from "../objects.ts";
import type { Found } from "../steering.ts";
import { type Trial, trial } from "../trial.ts";

let world: Landscape;
let ground: Ground;
const all = { selector: {} };
const nobody = { selector: null };

const nics = ["found", "nobody", "watched", "kept", "paused", "fixed", "foreign", "shut"].map(
  (role) => `flowlog-${role}`,
);
/** The Accounts of central logging, and the region of each. */
const regions = {
  "centrallogging-found": "de-fra",
  "centrallogging-nobody": "es-vit",
  "centrallogging-watched": "gb-bhx",
  "centrallogging-kept": "gb-lhr",
  "centrallogging-paused": "fr-par",
  // With the ClusterAccount.
  "centrallogging-foreign": "de-txl",
  "centrallogging-shut": "de-txl",
};

// Kinds without a resource are not counted, so that a new one does not change the Account of another kind.
const managed = kinds.filter(hasResource);
const manifest = z.looseObject({ kind: z.string(), spec: z.looseObject({}).default({}) });
/** Kinds alternate: the objects of one kind use an Account of their namespace, those of the next the ClusterAccount. */
function withAccount(object: object): object {
  const { spec, ...rest } = manifest.parse(object);
  const turn = managed.findIndex(({ kind }) => kind === rest.kind);
  if (turn < 0) return object;
  const isOdd = turn % 2 === 1;
  return { ...rest, spec: { accountRef: isOdd ? { name: "main" } : shared(), ...spec } };
}
const shared = () => ({ kind: "ClusterAccount", name: world.namespace });
const through = (object: { spec: object }) => ({ ...object, spec: { ...object.spec, accountRef: shared() } });
/** The spec of the ClusterAccount. Waits until the operator has observed it. */
async function share(spec: object): Promise<void> {
  await world.patch(`clusteraccount/${world.namespace}`, { spec });
  await world.untilReady(`clusteraccount/${world.namespace}`);
}

beforeAll(async () => {
  const bare = await landscape({
    simulator: ["--speed", "60"],
    // The resync is so long that only events cause a reconcile.
    operator: ["--create-deadline", "3s", "--settle", "3s", "--retry", "1s", "--resync", "1h"],
    clusterAccount: { adoption: "Any", namespaces: all, kinds: kinds.map(({ kind }) => kind) },
  });
  const { spec } = manifest.parse(await bare.get("account/main"));
  const account = ([name, slug]: [string, string]) => ({
    apiVersion: api,
    kind: "Account",
    metadata: { name },
    spec: { ...spec, region: slug.replace("-", "/") },
  });
  await bare.apply(...Object.entries(regions).flatMap((each) => (each[1] === "de-txl" ? [] : [account(each)])));
  world = {
    ...bare,
    apply: (...objects) => bare.apply(...objects.map(withAccount)),
    applyServerSide: (...objects) => bare.applyServerSide(...objects.map(withAccount)),
  };
  const others = [datacenter("other"), volume("other-source"), kafkaCluster("other-stream")];
  await world.apply(...others.map(through));
  ground = await applyGround(world, { accountRef: shared(), nics, regions });
  await world.untilReady("datacenter/other", "volume/other-source", "kafkacluster/other-stream");
});

/** Changes that only a replacement can bring about. */
const replacing = ({ fixedChange, move }: Pick<Subject, "fixedChange" | "move">) => fixedChange ?? move;
const none = { spec: {}, shows: {} };
const ready = '{.status.conditions[?(@.type=="Ready")].message}';
const containing = (shows: object) => [expect.objectContaining({ properties: expect.objectContaining(shows) })];
/** The visible parts of resources that must not change. */
const looks = (found: Found[]) => found.map(({ id, properties }) => ({ id, properties }));

/** One promise for these kinds. They run concurrently, because they mostly wait. */
function promise(
  title: string,
  keep: (kind: Trial, expect: ExpectStatic) => Promise<void>,
  kept = subjects,
  before: () => Promise<unknown> = async () => {},
): void {
  describe(title, () => {
    beforeAll(before);
    for (const subject of kept) {
      it.concurrent(subject.kind.kind, ({ expect }) => keep(trial(world, ground, subject, expect), expect));
    }
  });
}

/** An object with only the id of its resource and the fields that the platform does not know. */
const naming = (it: Trial, role: string, spec: object) => ({
  apiVersion: api,
  kind: it.kind.kind,
  metadata: { name: it.name(role) },
  spec: { ...it.place(it.name(role)), ...it.besides?.(it.name(role)), ...spec },
});

/** Whether the platform shows the immutable field. It does not show the source of a snapshot. */
const isSeen = ({ fixedChange }: Pick<Subject, "fixedChange">) =>
  fixedChange !== undefined && !Object.keys(fixedChange.spec).some((field) => field.endsWith("Ref"));

promise(
  "does not own a resource that differs in a fixed field: it is left alone, and spec can be corrected",
  async (it, expect) => {
    const externalId = await it.createByHand("found");
    const before = looks(await it.there("found"));
    const { spec } = it.fixedChange ?? none;
    const [field = ""] = Object.keys(spec);
    const ask = async () => {
      await world.apply(naming(it, "found", { externalId, ...spec }));
      await world.untilReason(it.ref("found"), "NotAdoptable");
    };
    await ask();
    const message = await world.value(it.ref("found"), ready);
    expect(message).toMatch(new RegExp(`is not adopted: ${field} is .+ on the platform and .+ in spec`));
    expect(await world.value(it.ref("found"), "{.status.id}")).toBe("");
    await world.remove(it.ref("found"));
    expect(looks(await it.there("found"))).toEqual(before);
    await ask();
  },
  subjects.filter(isSeen),
);

promise(
  "adopts an existing resource by its id alone, leaves it as it is, and then brings it in line with spec",
  async (it, expect) => {
    const externalId = isSeen(it) ? (await it.there("found"))[0]?.id : await it.createByHand("found");
    const before = looks(await it.there("found"));
    await world.apply(naming(it, "found", { externalId }));
    await world.untilReady(it.ref("found"));
    expect(await world.value(it.ref("found"), "{.status.id}")).toBe(externalId);
    expect(looks(await it.there("found"))).toEqual(before);
    const told = new RegExp(`^adopting ${it.kind.kind} ${externalId}$`);
    await expect.poll(() => it.eventCount("found", "Adopting", told)).toBe(1);
    if (!it.change) return;
    const { spec, shows } = it.change(it.name("found"));
    await world.apply(naming(it, "found", { externalId, ...spec }));
    await expect.poll(() => it.there("found")).toEqual(containing(shows));
    await world.untilReady(it.ref("found"));
  },
);

promise(
  "does not end the key of what it adopts, and tells the way to a new one",
  async (it, expect) => {
    expect(await it.there("found")).toEqual([expect.objectContaining({ keyVersion: 1 })]);
    expect(await world.value(it.ref("found"), "{.status.advice}")).toContain("mooring.dev/rotate-at");
    expect(await world.value(it.ref("found"), "{.status.secretName}")).toBe("");
  },
  subjects.filter(({ kind, change }) => kind.resource.secret?.key && change),
);

promise(
  "does not adopt what is not there, nor what belongs to another object, unless it is shared",
  async (it, expect) => {
    const { onePer, shared } = it.kind.resource.identity;
    await world.apply(it.manifest(it.name("nobody"), { externalId: it.nobody }));
    await world.untilReason(it.ref("nobody"), "NotAdoptable");
    expect(await world.value(it.ref("nobody"), ready)).toContain(`there is no ${it.kind.kind} ${it.nobody}`);
    const id = await world.value(it.ref("found"), "{.status.id}");
    const before = looks(await it.effects("found"));
    expect(before).toHaveLength(1);
    await world.apply(it.manifest(it.name("thief"), { ...it.place(it.name("found")), externalId: id }));
    if (shared) {
      await world.untilReady(it.ref("thief"), it.ref("found"));
      expect(await it.effects("thief")).toHaveLength(1);
    } else {
      const owner = `${it.kind.kind}/${world.namespace}/${it.name("found")}`;
      await world.untilReason(it.ref("thief"), onePer === undefined ? "NotAdoptable" : "OnlyOne");
      expect(await world.value(it.ref("thief"), ready)).toContain(owner);
    }
    await world.remove(it.ref("nobody"), it.ref("thief"));
    expect(looks(await it.effects("found"))).toEqual(before);
  },
);

promise(
  "observes: shows the resource with nothing but its identity in spec, and never touches it",
  async (it, expect) => {
    const id = await it.createByHand("watched");
    const all = async () => [looks(await it.there("watched")), looks(await it.effects("watched"))];
    const before = await all();
    const place = it.place(it.name("watched"));
    const spec = { ...place, externalId: id, managementPolicy: "Observe", ...it.unlike };
    await world.apply({ apiVersion: api, kind: it.kind.kind, metadata: { name: it.name("watched") }, spec });
    await world.untilReason(it.ref("watched"), "Observed");
    const [field = ""] = Object.keys(it.unlike);
    expect(await world.value(it.ref("watched"), "{.status.id} {.status.drift[0].field}")).toBe(`${id} ${field}`);
    expect(await all()).toEqual(before);
    await world.remove(it.ref("watched"));
    expect(await all()).toEqual(before);
    await it.erase("watched");
  },
);

promise("retains: the resource stays when the object goes", async (it, expect) => {
  await world.apply(it.manifest(it.name("kept"), { deletionPolicy: "Retain" }));
  await world.untilReady(it.ref("kept"));
  const id = await world.value(it.ref("kept"), "{.status.id}");
  await world.remove(it.ref("kept"));
  // A resource without a name is known by the Event, which may come later.
  await expect.poll(() => it.there("kept")).toEqual([expect.objectContaining({ id })]);
  expect(await it.there("kept")).toEqual(containing(it.shows(it.name("kept"))));
  await it.erase("kept");
});

promise("pauses: nothing is done until the annotation goes", async (it, expect) => {
  const name = it.name("paused");
  const metadata = { name, annotations: { "mooring.dev/paused": "true" } };
  await world.apply({ ...it.manifest(name), metadata });
  await expect.poll(() => world.value(it.ref("paused"), "{.status.conditions[*].type}")).toBe("Ready Paused");
  expect(await it.effects("paused")).toEqual([]);
  await it.annotate("paused", "mooring.dev/paused-");
  await world.untilReady(it.ref("paused"));
  expect(await it.effects("paused")).toHaveLength(1);
});

promise(
  "looks when it is asked to, and changes back what somebody has changed",
  async (it, expect) => {
    const shows = it.shows(it.name("paused"));
    const told = () =>
      it.eventCount("paused", "Updated", new RegExp(`^asked the platform to .*: ${Object.keys(shows)[0]}`));
    // A switch is already on, and its Event may come after Ready.
    const before = it.kind.resource.identity.permanent ? 1 : 0;
    await expect.poll(told).toBe(before);
    await it.tamper("paused");
    await it.annotate("paused", "mooring.dev/reconcile-at=now");
    await expect.poll(told).toBe(before + 1);
    await world.untilReady(it.ref("paused"));
    await expect.poll(() => it.there("paused")).toEqual(containing(shows));
  },
  subjects.filter(({ change }) => change),
);

promise(
  "creates again what was removed behind its back",
  async (it, expect) => {
    const before = await it.madeAt("paused");
    await it.erase("paused");
    const id = await world.value(it.ref("paused"), "{.status.id}");
    await it.annotate("paused", "mooring.dev/reconcile-at=later");
    if ((await world.value(it.ref("paused"), "{.spec.recreatePolicy}")) === "Never") {
      await world.untilReason(it.ref("paused"), "DeletedExternally");
      await it.annotate("paused", `mooring.dev/recreate=${id}`);
    }
    await it.untilMadeAnew("paused", before);
    expect(await it.there("paused")).toHaveLength(1);
  },
  // Nobody can delete a permanent resource.
  subjects.filter(({ kind }) => !kind.resource.identity.permanent),
);

promise(
  "refuses a change of a fixed field at apply, and replaces the resource where that is allowed",
  async (it, expect) => {
    const name = it.name("fixed");
    await world.apply(it.manifest(name));
    await world.untilReady(it.ref("fixed"));
    const before = await it.madeAt("fixed");
    const { spec, shows } = replacing(it) ?? none;
    const [field = ""] = Object.keys(spec);
    await expect(world.apply(it.manifest(name, spec))).rejects.toThrow(`${field} cannot be changed`);

    await world.apply(it.manifest(name, { ...spec, replacePolicy: "WhenNeeded" }));
    if (it.kind.resource.destruction.holdsData) {
      await world.untilReason(it.ref("fixed"), "DataLossNotAllowed");
      expect(await it.madeAt("fixed")).toBe(before);
      await it.annotate("fixed", "mooring.dev/allow-data-loss=true");
    }
    await it.untilMadeAnew("fixed", before);
    expect(await it.there("fixed")).toEqual(containing(shows));
    expect(await it.effects("fixed")).toHaveLength(1);
  },
  subjects.filter(replacing),
);

/** Applies like Flux, and waits until the object is Ready with the new generation. */
async function flux(it: Trial, expect: ExpectStatic, role: string, spec?: object): Promise<void> {
  await world.applyServerSide(it.manifest(it.name(role), spec));
  const generation = await world.value(it.ref(role), "{.metadata.generation}");
  await expect.poll(() => world.value(it.ref(role), "{.status.observedGeneration}")).toBe(generation);
  await world.untilReady(it.ref(role));
}

promise(
  "takes an emptied list for a wish, also by server-side apply, and leaves alone a list that spec does not have",
  async (it, expect) => {
    const applied = (spec?: object) => flux(it, expect, "listed", spec);
    await applied();
    for (const { spec, silent, members } of Object.values(it.lists ?? {})) {
      const there = async () => {
        const [found] = await it.there("listed");
        return found && members(found, world.platform);
      };
      expect(await there()).toHaveLength(1);
      if (silent) {
        await applied(silent);
        expect(await there()).toHaveLength(1);
        await applied();
      }
      await applied(spec);
      expect(await there()).toEqual([]);
    }
    await world.remove(it.ref("listed"));
  },
  subjects.filter(({ lists }) => lists),
);

/** A change of an optional field. A name has a default. */
const optionalChange = ({ spec, change }: Pick<Subject, "spec" | "change">) => {
  const changed = change?.("any").spec ?? {};
  return Object.keys(changed).some((field) => field !== "name" && !(field in spec)) ? change : undefined;
};

promise(
  "leaves alone what spec no longer says",
  async (it, expect) => {
    const { spec, shows } = optionalChange(it)?.(it.name("silent")) ?? none;
    await flux(it, expect, "silent", spec);
    await flux(it, expect, "silent");
    expect(await it.there("silent")).toEqual(containing(shows));
    await world.remove(it.ref("silent"));
  },
  subjects.filter(optionalChange),
);

promise(
  "leaves a Secret of somebody else as it is, and does nothing until it is gone",
  async (it, expect) => {
    const name = it.name("barred");
    const secret = `${name}-${it.word}`;
    await world.apply({ apiVersion: "v1", kind: "Secret", metadata: { name: secret }, stringData: { key: "theirs" } });
    await world.apply(it.manifest(name));
    await world.untilReason(it.ref("barred"), "SecretNotOwned");
    expect(await world.value(it.ref("barred"), ready)).toContain(secret);
    const theirs = { key: Buffer.from("theirs").toString("base64") };
    expect(JSON.parse(await world.value(`secret/${secret}`, "{.data}"))).toEqual(theirs);
    await world.remove(`secret/${secret}`);
    await world.untilReady(it.ref("barred"));
    expect(JSON.parse(await world.value(`secret/${secret}`, "{.data}"))).not.toEqual(theirs);
    await world.remove(`${it.word}/${name}`);
  },
  subjects.filter(({ kind }) => kind.resource.secret),
);

promise("deletes: nothing is left of what the object has brought about", async (it, expect) => {
  const role = replacing(it) ? "fixed" : "paused";
  await world.remove(it.ref(role));
  // Garbage collection of the Secret takes a moment.
  if (it.kind.resource.secret?.certificate) await expect.poll(() => it.effects(role)).toEqual([]);
  else expect(await it.effects(role)).toEqual([]);
});

/**
 * Admission by a ClusterAccount is checked before anything that depends on the kind, so one kind of each type is
 * enough.
 */
const ofEachSort = [
  ...Map.groupBy(subjects, ({ kind: { resource } }) =>
    JSON.stringify([resource.identity, Object.keys(resource.secret ?? {})]),
  ).values(),
].flatMap(([first]) => first ?? []);

const notAllowed = (it: Trial) => world.untilReason(it.ref("shut"), "AccountNotAllowed");
const throughShared = (it: Trial, role: string, spec: object = {}) =>
  world.apply(it.manifest(it.name(role), { ...spec, accountRef: shared() }));

promise(
  "neither adopts nor observes by a ClusterAccount what no object of its namespace owns",
  async (it, expect) => {
    const id = await it.createByHand("foreign");
    const before = looks(await it.there("foreign"));
    for (const managementPolicy of ["Manage", "Observe"]) {
      await throughShared(it, "foreign", { externalId: id, managementPolicy });
      await world.untilReason(it.ref("foreign"), "NotYours");
      await world.remove(it.ref("foreign"));
    }
    expect(looks(await it.there("foreign"))).toEqual(before);
    await it.erase("foreign");
  },
  subjects,
  () => share({ adoption: "None" }),
);

promise(
  "begins to create by a ClusterAccount",
  async (it, expect) => {
    await throughShared(it, "shut");
    await expect.poll(() => world.value(it.ref("shut"), "{.status.id}{.status.secretName}")).not.toBe("");
  },
  ofEachSort,
  () => world.platform.faults({ route: "* *", fault: "slow-provisioning", factor: 50 }),
);

promise(
  "keeps what it has while it is not admitted any more, and changes nothing",
  async (it, expect) => {
    await notAllowed(it);
    const id = await world.value(it.ref("shut"), "{.status.id}");
    await throughShared(it, "shut", it.change?.(it.name("shut")).spec);
    const generation = await world.value(it.ref("shut"), "{.metadata.generation}");
    await expect.poll(() => world.value(it.ref("shut"), "{.status.observedGeneration}")).toBe(generation);
    await notAllowed(it);
    expect(await world.value(it.ref("shut"), "{.status.id}")).toBe(id);
    expect(await it.there("shut")).toHaveLength(1);
  },
  ofEachSort,
  () => share({ namespaces: nobody }),
);

promise(
  "goes on when it is admitted again",
  async (it, expect) => {
    await world.untilReady(it.ref("shut"));
    const { shows } = it.change?.(it.name("shut")) ?? { shows: it.shows(it.name("shut")) };
    expect(await it.there("shut")).toEqual(containing(shows));
    expect(await it.effects("shut")).toHaveLength(1);
  },
  ofEachSort,
  async () => {
    await world.platform.faults();
    await share({ namespaces: all });
  },
);

promise(
  "is not deleted while it is not admitted",
  async (it, expect) => {
    await notAllowed(it);
    await world.askToRemove(it.ref("shut"));
    await expect.poll(() => world.value(it.ref("shut"), ready)).toContain("set deletionPolicy: Retain");
    expect(await it.effects("shut")).toHaveLength(1);
  },
  ofEachSort,
  () => share({ namespaces: nobody }),
);

promise(
  "is deleted when it is admitted again",
  async (it, expect) => {
    await world.untilGone(it.ref("shut"));
    await expect.poll(() => it.effects("shut")).toEqual([]);
  },
  ofEachSort,
  () => share({ namespaces: all, adoption: "Any" }),
);

describe("deletion", () => {
  it("a datacenter is not deleted with somebody else's server in it, unless that is allowed", async () => {
    await world.apply(datacenter("full"));
    await world.untilReady("datacenter/full");
    const id = await world.value("datacenter/full", "{.status.id}");
    await world.platform.call("POST", `/cloudapi/v6/datacenters/${id}/servers`, {
      properties: { name: "stranger", cores: 1, ram: 1024 },
    });
    await world.askToRemove("datacenter/full");
    await world.untilReason("datacenter/full", "NotEmpty");
    expect(await world.value("datacenter/full", ready)).toContain("server stranger");
    await world.annotate("datacenter/full", "mooring.dev/allow-non-empty-delete=true");
    await world.untilGone("datacenter/full");
    expect((await world.platform.resources("servers")).map(({ properties }) => properties?.name)).not.toContain(
      "stranger",
    );
  });

  describe("a LAN that got the number of ours, after somebody had removed ours, is theirs", () => {
    const named = async (name: string) =>
      (await world.platform.resources("lans")).filter(({ properties }) => properties?.name === name);
    /** Our LAN is deleted and another one has its number, before the next list. */
    async function replaceByHand(name: string) {
      const lans = `/cloudapi/v6/datacenters/${ground.datacenter}/lans`;
      const theirs = `${name}-theirs`;
      await world.apply(lan(name));
      await world.untilReady(`lan/${name}`);
      const number = await world.value(`lan/${name}`, "{.status.id}");
      await world.platform.call("POST", "/_simulator/advance", { seconds: 600 });
      await world.platform.call("DELETE", `${lans}/${number}`);
      await expect.poll(() => named(name)).toEqual([]);
      await world.platform.call("POST", lans, { properties: { name: theirs, public: false } });
      await expect.poll(() => named(theirs)).toEqual([expect.objectContaining({ id: number, state: "AVAILABLE" })]);
      const remove = async () => {
        await world.platform.call("DELETE", `${lans}/${number}`);
        // Its number must be free first; otherwise the next LAN would get it.
        await expect.poll(() => named(theirs)).toEqual([]);
      };
      return { number, theirs, remove };
    }

    it("also when ours is created again", async () => {
      const { number, theirs, remove } = await replaceByHand("numbered");
      await world.annotate("lan/numbered", "mooring.dev/reconcile-at=now");
      await expect
        .poll(() => named("numbered"))
        .toEqual([expect.objectContaining({ id: expect.not.stringMatching(`^${number}$`) })]);
      await world.untilReady("lan/numbered");
      await world.remove("lan/numbered");
      expect(await named(theirs)).toEqual(containing({ public: false }));
      await remove();
    });

    it("also when ours is changed or deleted before anybody has looked", async () => {
      const changed = await replaceByHand("renumbered");
      await world.patch("lan/renumbered", { spec: { public: true } });
      await expect.poll(() => named("renumbered")).toEqual(containing({ public: true }));
      const deleted = await replaceByHand("unnumbered");
      await world.remove("lan/unnumbered");
      for (const { theirs, remove } of [changed, deleted]) {
        expect(await named(theirs)).toEqual(containing({ public: false }));
        await remove();
      }
      await world.remove("lan/renumbered");
    });
  });

  it("a namespace with everything in it disappears, and nothing is left on the platform", async () => {
    // The volume of a server that was adopted by id alone is not in spec, so it remains.
    await world.remove("server/server-found");
    const left = (await world.platform.resources("volumes")).filter(({ properties }) => properties?.name === "os");
    expect(left).toHaveLength(1);
    const volumes = `/cloudapi/v6/datacenters/${ground.datacenter}/volumes`;
    for (const { id } of left) await world.platform.call("DELETE", `${volumes}/${id}`);
    await world.kubectl("delete", "namespace", world.namespace, "--wait=false");
    // The Secret is in this namespace, which is also the operator's.
    await world.askToRemove(`clusteraccount/${world.namespace}`);
    const { stderr } = await world.kubectl("wait", "--for=delete", `namespace/${world.namespace}`, "--timeout=100s");
    expect(stderr).toBe("");
    const { centrals = [], ...others } = await world.platform.made();
    expect(others).toEqual({});
    // A permanent resource remains as it was.
    expect(centrals.filter(({ properties }) => properties?.enabled)).toEqual([]);
  });
});
