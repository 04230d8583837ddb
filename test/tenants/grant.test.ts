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

// One operator for all namespaces, so it needs a control plane of its own. B grants and A uses, each with the shipped
// role, in one contract that both may use.
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
async function readyOf(stage: Stage, kind: string, name: string) {
  const object = await stage.read(kind, name);
  return object && readStatus(object).conditions?.find(({ type }) => type === "Ready");
}

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
    manifest("ClusterAccount", "shared", {
      credentialsSecretRef: { name: "shared" },
      default: true,
      namespaces: { names: [a.namespace, b.namespace] },
    }),
  );
  await home.operator({ everywhere: true, flags: ["--resync", "2s", "--endpoint", `api=${platform.url}`] });
  await home.untilReady("ClusterAccount", "shared");
  expect(await as("editor", b, ["create"], [datacenter("dc"), datacenter("private")])).toBe("");
  await b.untilReady("Datacenter", "dc");
});

describe("what a namespace has", () => {
  it("is lent by who administers it, to nobody by anybody else", async () => {
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

  it("is not told of to who asks for another name, kind or namespace than is granted", async () => {
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
