import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { applyObject } from "../../src/cli/demo/install.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import { audit } from "../cluster/audit.ts";
import { type Platform, startPlatform } from "../cluster/chaos/platform.ts";
import { openStage, type Stage } from "../cluster/chaos/stage.ts";
import { kubectl, type TestCluster } from "../cluster/harness.ts";
import { datacenter, lan, server } from "../cluster/objects.ts";
import { manifest } from "../subjects/surroundings.ts";

// One operator for all namespaces, so it needs a control plane of its own. A and B share a contract and have the shipped
// roles: B grants and A uses; B is the victim and A has only the role `edit`.
const cleanup = new AsyncDisposableStack();
afterAll(() => cleanup.disposeAsync());

let platform: Platform;
let run: TestCluster["kubectl"];
let a: Stage;
let b: Stage;

const users = { editor: "edit", owner: "admin" } as const;
/** kubectl of a user with one of the roles in a namespace. Returns the message if it is refused. */
async function as(user: keyof typeof users, { namespace }: Stage, args: string[], objects: object[] = []) {
  const input = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  const all = ["-n", namespace, `--as=${user}-${namespace}`, ...args, ...(objects.length > 0 ? ["-f", "-"] : [])];
  const { code, stderr } = await run(all, { input });
  return code === 0 ? "" : stderr;
}
/** kubectl of a user with `edit` in a namespace, which must work. */
async function edit(stage: Stage, args: string[], ...objects: object[]): Promise<void> {
  expect(await as("editor", stage, args, objects)).toBe("");
}
const change = (stage: Stage, what: string, spec: object) =>
  edit(stage, ["patch", what, "--type=merge", "-p", JSON.stringify({ spec })]);

const bind = ({ admin, namespace }: Stage, user: keyof typeof users, role: string = users[user]) =>
  applyObject(admin, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: `${user}-${role}`, namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: `mooring-${role}` },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: `${user}-${namespace}` }],
  });

const lent = (name: string) => ({ namespace: b.namespace, name });
const grant = () =>
  manifest("Grant", "grant", {
    namespaces: { names: [a.namespace] },
    kinds: ["Datacenter"],
    names: ["dc"],
  });
const bare = { bootVolume: undefined, nics: undefined };
const guest = (name: string, spec: object = {}) => server(name, { ...bare, datacenterRef: lent("dc"), ...spec });
const handing = { accountRef: { kind: "ClusterAccount", name: "handing-over" } };
async function eventsOf({ namespace }: Stage, name: string): Promise<string> {
  const messages = `{.items[?(@.involvedObject.name=="${name}")].message}`;
  return (await run(["-n", namespace, "get", "events", "-o", `jsonpath=${messages}`])).stdout;
}
async function readyOf(stage: Stage, kind: string, name: string) {
  const object = await stage.read(kind, name);
  return object && readStatus(object).conditions?.find(({ type }) => type === "Ready");
}

const shared = (name: string, more: object = {}) =>
  manifest("ClusterAccount", name, {
    credentialsSecretRef: { name: "shared" },
    namespaces: { names: [a.namespace, b.namespace] },
    ...more,
  });

beforeAll(async () => {
  const control = await startCluster({ audit: audit() });
  cleanup.defer(control.stop);
  run = kubectl(control.assets, control.kubeconfig);
  platform = cleanup.use(await startPlatform({ speed: 200 }));
  const home = cleanup.use(await openStage(control.kubeconfig));
  a = cleanup.use(await openStage(control.kubeconfig));
  b = cleanup.use(await openStage(control.kubeconfig));
  await Promise.all(
    [a, b].flatMap((stage) => [
      bind(stage, "editor"),
      bind(stage, "editor", "view"),
      bind(stage, "owner"),
      bind(stage, "owner", "view"),
    ]),
  );
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "shared" } };
  await home.apply(
    { ...secret, stringData: { token: platform.token } },
    shared("shared", { default: true }),
    shared("handing-over", { adoption: "Any" }),
  );
  await home.operator({ everywhere: true, flags: ["--resync", "2s", "--endpoint", `api=${platform.url}`] });
  await home.untilReady("ClusterAccount", "shared");
  await home.untilReady("ClusterAccount", "handing-over");
  expect(await as("editor", b, ["create"], [datacenter("dc"), datacenter("private")])).toBe("");
  await b.untilReady("Datacenter", "dc");
});

describe("a resource of a namespace", () => {
  it("is granted by its administrator, and by nobody else", async () => {
    expect(await as("editor", b, ["create"], [grant()])).toContain("is forbidden");
    const { code, stderr } = await run(["-n", b.namespace, `--as=owner-${a.namespace}`, "create", "-f", "-"], {
      input: JSON.stringify(grant()),
    });
    expect([code, stderr]).toEqual([1, expect.stringContaining("is forbidden")]);
    expect(await as("editor", a, ["create"], [guest("web")])).toBe("");
    await a.untilReason("Server", "web", "ReferenceNotGranted");
    expect(await as("owner", b, ["create"], [grant()])).toBe("");
    await b.untilReady("Grant", "grant");
  });

  it("is used by those whom a Grant admits, through an Account that both share", async () => {
    await a.untilReady("Server", "web");
    const made = await a.read("Server", "web");
    const home = await b.read("Datacenter", "dc");
    expect(made && readStatus(made)).toMatchObject({
      account: "ClusterAccount/shared",
      parents: { datacenter: home && readStatus(home).id },
    });
    expect(await platform.named("servers", "web")).toHaveLength(1);
  });

  it("is not revealed to requests for another name, kind or namespace than is granted", async () => {
    const asked = [
      lent("private"),
      lent("nothing"),
      { namespace: b.namespace.replace("chaos", "gone"), name: "dc" },
    ].map((ref, nth) => ({ ref, name: `asks-${nth}` }));
    const snapshots = ["secret", "nothing"].map((name) =>
      server(`from-${name}`, {
        nics: undefined,
        datacenterRef: lent("dc"),
        bootVolume: { size: 10, type: "SSD Standard", snapshotRef: lent(name) },
      }),
    );
    const servers = asked.map(({ ref, name }) => guest(name, { datacenterRef: ref }));
    expect(await as("editor", a, ["create"], [...servers, ...snapshots])).toBe("");
    const words = async (name: string, { namespace, name: target }: ReturnType<typeof lent>) => {
      await a.untilReason("Server", name, "ReferenceNotGranted");
      const { message = "" } = (await readyOf(a, "Server", name)) ?? {};
      return message.replaceAll(namespace, "NAMESPACE").replace(` ${target}:`, " NAME:");
    };
    const said = await Promise.all(asked.map(({ ref, name }) => words(name, ref)));
    expect(said).toEqual([said[0], said[0], said[0]]);
    expect(said[0]).toContain("ask for one");
    expect(await words("from-secret", lent("secret"))).toBe(await words("from-nothing", lent("nothing")));
  });

  it("is not reached by a number either: LANs of a lent datacenter have to be named", async () => {
    expect(await as("editor", b, ["create"], [lan("back", { datacenterRef: { name: "dc" } })])).toBe("");
    const theirs = await b.untilReady("Lan", "back");
    const number = Number(readStatus(theirs).id);
    const own = [
      datacenter("own"),
      ...Array.from({ length: number }, (_, nth) => lan(`own-${nth}`, { datacenterRef: { name: "own" } })),
    ];
    const reaching = [
      guest("joins", { nics: [{ name: "n", lan: number }] }),
      lan("takes", { datacenterRef: lent("dc"), externalId: String(number) }),
      lan("looks", { datacenterRef: lent("dc"), externalId: String(number), managementPolicy: "Observe" }),
    ];
    expect(await as("editor", a, ["create"], own)).toBe("");
    for (let nth = 0; nth < number; nth++) await a.untilReady("Lan", `own-${nth}`);
    expect(await as("editor", a, ["create"], reaching)).toBe("");
    await a.untilReason("Server", "joins", "InvalidSpec");
    await a.untilReason("Lan", "takes", "NotYours");
    await a.untilReason("Lan", "looks", "NotYours");
  });
});

describe("a Grant that is withdrawn", () => {
  it("leaves what was made, opens nothing new, and the owner's deletion waits without naming anybody", async () => {
    expect(await as("owner", b, ["delete", "grant/grant"])).toBe("");
    expect(await as("editor", a, ["create"], [guest("late")])).toBe("");
    await a.untilReason("Server", "late", "ReferenceNotGranted");
    expect((await readyOf(a, "Server", "web"))?.status).toBe("True");
    const { uses = {} } = readStatus(await a.untilReady("Server", "web"));
    expect(Object.keys(uses)).toEqual([`Datacenter/${b.namespace}/dc`]);
    expect(await as("editor", b, ["delete", "--wait=false", "lan/back", "datacenter/dc"])).toBe("");
    await b.untilReason("Datacenter", "dc", "NotEmpty");
    const { message = "" } = (await readyOf(b, "Datacenter", "dc")) ?? {};
    expect(message).toContain("an object of another namespace");
    expect(message).not.toContain(a.namespace);
    expect(message).not.toContain("web");
    expect(await platform.named("servers", "web")).toHaveLength(1);
    expect(await as("editor", a, ["delete", "server/web"])).toBe("");
    await b.untilGone("Datacenter", "dc");
    expect(await platform.named("servers", "web")).toEqual([]);
  });
});

describe("an object that has only observed a resource", () => {
  it("does not get the next one with its number by managing it", async () => {
    await edit(b, ["create"], datacenter("lent"));
    await b.untilReady("Datacenter", "lent");
    const lending = { namespaces: { names: [a.namespace] }, kinds: ["Datacenter"], names: ["lent"] };
    await b.apply(manifest("Grant", "lent", lending));
    const datacenterRef = { namespace: b.namespace, name: "lent" };
    await edit(a, ["create"], lan("own", { datacenterRef }));
    const number = readStatus(await a.untilReady("Lan", "own")).id ?? "";
    const observing = { datacenterRef, externalId: number, managementPolicy: "Observe" };
    await edit(a, ["create"], lan("sleeper", observing));
    await a.untilReason("Lan", "sleeper", "Observed");
    await edit(a, ["delete", "lan/own"]);

    await edit(b, ["create"], lan("private", { datacenterRef: { name: "lent" }, public: false }));
    const theirs = readStatus(await b.untilReady("Lan", "private"));
    expect(theirs.id).toBe(number);
    const bare = { bootVolume: undefined, nics: [{ name: "n", lanRef: { name: "sleeper" } }] };
    await change(a, "lan/sleeper", { managementPolicy: "Manage", public: true });
    await edit(a, ["create"], server("guest", { ...bare, datacenterRef }));
    await a.untilReason("Lan", "sleeper", "NotYours");
    await a.untilReason("Server", "guest", "ReferenceNotReady");
    const lans = await platform.named("lans", "private");
    expect(lans.map(({ properties }) => properties?.public)).toEqual([false]);
    expect(await platform.named("servers", "guest")).toEqual([]);

    await edit(a, ["delete", "--wait=false", "lan/sleeper"]);
    await a.untilGone("Lan", "sleeper");
    expect(await platform.named("lans", "private")).toHaveLength(1);
  });

  it.each(["Delete", "Retain"])("does not take back what was handed over to another tenant: %s", async (way) => {
    const name = `given-${way.toLowerCase()}`;
    await edit(a, ["create"], datacenter(name, { ...handing, location: "de/txl" }));
    const id = readStatus(await a.untilReady("Datacenter", name)).id ?? "";
    await change(a, `datacenter/${name}`, { managementPolicy: "Observe" });
    await a.untilReason("Datacenter", name, "Observed");
    const mine = { ...handing, name, location: "de/txl", description: "of B", externalId: id };
    await edit(b, ["create"], datacenter(name, mine));
    await b.untilReady("Datacenter", name);

    const deletionPolicy = way;
    await change(a, `datacenter/${name}`, { managementPolicy: "Manage", description: "taken", deletionPolicy });
    await a.untilReason("Datacenter", name, "NotAdoptable");
    await expect.poll(() => eventsOf(b, name)).toContain("also claimed by an object of another namespace");
    await edit(a, ["delete", "--wait=false", `datacenter/${name}`]);
    await a.untilGone("Datacenter", name);
    await change(b, `datacenter/${name}`, { description: "still of B" });
    await b.untilReady("Datacenter", name);
    const found = (await platform.steering.resources("datacenters")).filter((each) => each.id === id);
    expect(found).toMatchObject([{ properties: { description: "still of B" } }]);
    expect(readStatus(await b.untilReady("Datacenter", name))).toMatchObject({ id });
  });
});

describe("a resource of nobody that the platform answers a creation with", () => {
  it("is not the object's, whatever that is edited to, and opens nothing in a shared contract", async () => {
    const properties = { name: "by-hand", location: "de/txl", description: "of a stranger" };
    await platform.asStranger("POST", "/cloudapi/v6/datacenters", { properties });
    const [{ id } = { id: "" }] = await platform.named("datacenters", "by-hand");
    const lie = { route: "POST /cloudapi/v6/datacenters", fault: "altered-answer", set: { id } };
    await platform.steering.faults({ ...lie, count: 1 });
    await edit(a, ["create"], datacenter("deceived", { location: "de/txl", description: "of A" }));
    await a.untilReason("Datacenter", "deceived", "AlreadyExists");
    await edit(a, ["annotate", "datacenter/deceived", "mooring.dev/intent-"]);
    await edit(a, ["create"], lan("inside", { datacenterRef: undefined, datacenterId: id }));
    await a.untilReason("Lan", "inside", "NotYours");
    await change(a, "datacenter/deceived", { description: "taken" });
    await a.untilReason("Datacenter", "deceived", "AlreadyExists");
    expect(await platform.named("lans", "inside")).toEqual([]);
    await edit(a, ["delete", "--wait=false", "datacenter/deceived", "lan/inside"]);
    await a.untilGone("Datacenter", "deceived");
    expect(await eventsOf(a, "deceived")).toContain(`Datacenter ${id} is not what this object has created`);
    const found = (await platform.steering.resources("datacenters")).filter((each) => each.id === id);
    expect(found).toMatchObject([{ properties: { name: "by-hand", description: "of a stranger" } }]);
  });
});
