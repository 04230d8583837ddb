import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { applyObject } from "../../src/cli/demo/install.ts";
import { resourceOf } from "../../src/engine/state/object.ts";
import { kinds } from "../../src/kinds/index.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { isNotFound } from "../../src/kube/client/errors.ts";
import { type KubeObject, pathOf } from "../../src/kube/resource.ts";
import { readConfig } from "../../src/operator/config.ts";
import { runOperator } from "../../src/operator/start.ts";
import type { Ground } from "../subjects/surroundings.ts";
import type { Base } from "./base.ts";
import type { Side, Target } from "./calls.ts";
import { createDisturber, type Disturbance, OTHER } from "./disturbance.ts";
import type { AccountKind } from "./lives/lives.ts";
import { CREDENTIALS, LOGIN, type Manifest } from "./lives/manifests.ts";
import { type ReadSecret, secretReader } from "./lives/secrets.ts";
import { kubeconfigOf, lifeNamespace, narrowedTo, removeClusterAccount, signingKey } from "./narrow.ts";
import { createOperator, flagsOf, type Operator } from "./operator.ts";
import { addUser, type Platform, startPlatform } from "./platform.ts";
import { startProxy } from "./proxy.ts";
import { createRecorder, type Recorder } from "./recorder.ts";

/** The setting of one life: a namespace, a platform, an operator, and a proxy on each of its two sides. */
export interface Stage extends AsyncDisposable {
  readonly folder: string;
  /** The operator's log in that folder. */
  readonly log: string;
  readonly namespace: string;
  readonly platform: Platform;
  /** With the platform's address as the operator sees it. */
  readonly ground: Ground;
  readonly recorder: Recorder;
  readonly operator: Operator;
  /** Starts the operators, once. */
  begin(): void;
  /** The reason why nothing is at rest yet, besides the operator. */
  unrest(): string | undefined;
  apply(object: Manifest): Promise<void>;
  read(kind: string, name: string): Promise<KubeObject | undefined>;
  remove(kind: string, name: string): Promise<void>;
  /** Secrets of the namespace. */
  readonly secret: ReadSecret;
  /** Runs another operator, which is not under test, during `work`. */
  assisted(work: () => Promise<void>): Promise<void>;
}

export interface StageOptions {
  seed: number;
  account: AccountKind;
  targets: readonly Target[];
  /** Two operators share the work, and the namespace moves between them. */
  shards?: Disturbance | undefined;
}

export async function openStage(base: Base, { seed, account, targets, shards }: StageOptions): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const namespace = lifeNamespace();
  const folder = join(base.folder, namespace);
  await mkdir(folder);
  opening.defer(() => removeClusterAccount(base.admin, namespace));
  const platform = opening.use(await startPlatform(seed));
  const recorder = createRecorder(targets);
  const kubeconfig = join(folder, "kubeconfig");
  const log = join(folder, "operator.log");
  const { cache, former, elsewhere } = base;
  const place = { kubeconfig, namespace, account, cache, elsewhere };
  const operator = createOperator({ ...place, log, former, ...(shards && { shard: "" }) });
  const other = createOperator({ ...place, log: join(folder, "other.log"), shard: OTHER });
  const disturber = createDisturber(shards, { operator, admin: base.admin, namespace });
  const owner = () => operator.process;
  const arrived = (side: Side) => (method: string, url: string, process: number) => {
    const passage = recorder.arrived(side, method, url, process);
    if (passage.isWrite && !passage.fatal) disturber.wrote();
    return passage;
  };
  const kubernetes = await startProxy({
    owner,
    strike: (moment) => disturber.strike("kubernetes", moment),
    upstream: base.server,
    ca: base.ca,
    rewrite: narrowedTo(namespace),
    arrived: arrived("kubernetes"),
  });
  opening.defer(kubernetes.close);
  const outside = await startProxy({
    owner,
    strike: (moment) => disturber.strike("platform", moment),
    upstream: platform.steering.url,
    arrived: arrived("platform"),
  });
  opening.defer(outside.close);
  opening.defer(operator.kill);
  opening.defer(other.kill);
  await writeFile(kubeconfig, kubeconfigOf(kubernetes.url, base.operatorToken), { mode: 0o600 });

  const { admin } = base;
  const pathTo = (name: string, kind: string) => pathOf(resourceOf(kindNamed(kind)), { namespace, name });
  await applyObject(admin, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const credentials = {
    [CREDENTIALS]: { token: platform.steering.token },
    [LOGIN]: await addUser(platform, namespace),
  };
  for (const [name, stringData] of Object.entries(credentials)) {
    await applyObject(admin, { apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, stringData });
  }
  await applyObject(admin, signingKey(namespace));

  const closing = opening.move();
  return {
    folder,
    log,
    namespace,
    platform,
    ground: {
      api: outside.url,
      direct: platform.steering.url,
      nth: 0,
      ...(account === "ClusterAccount" && { tenant: namespace }),
    },
    recorder,
    operator,
    begin() {
      if (operator.process > 0) return;
      operator.start();
      if (shards) other.start();
    },
    unrest: disturber.unrest,
    async apply({ metadata, ...object }) {
      const place = kindNamed(object.kind).scope === "Cluster" ? {} : { namespace };
      await applyObject(admin, { ...object, metadata: { ...metadata, ...place } });
    },
    async read(kind, name) {
      try {
        return await admin.request<KubeObject>({ method: "GET", path: pathTo(name, kind) });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    },
    async remove(kind, name) {
      await admin.request({ method: "DELETE", path: pathTo(name, kind) });
    },
    secret: secretReader(admin, namespace),
    async assisted(work) {
      const config = readConfig([
        ...flagsOf({ kubeconfig, namespace, account, ...(shards && { shard: "" }) }),
        "--annotate-after",
        "0ms",
      ]);
      if (config === "help") throw new Error("the operator's flags ask for help");
      const done = new AbortController();
      const running = runOperator(config, pino({ level: "silent" }), done.signal);
      try {
        await Promise.race([work(), running]);
      } finally {
        done.abort();
        await running;
      }
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

function kindNamed(name: string): Kind {
  const kind = kinds.find(({ kind }) => kind === name);
  if (!kind) throw new Error(`there is no kind ${name}`);
  return kind;
}
