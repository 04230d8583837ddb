import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { files } from "../../../src/cli/control-plane/folder.ts";
import { type Cluster, startCluster } from "../../../src/cli/control-plane/start.ts";
import { temporaryFolder } from "../../../src/simulator/programs/swept.ts";
import { startCuttableProxy } from "../../cluster/chaos/cut.ts";

/** A copy of etcd at one moment. */
export type Backup = string;

/**
 * A control plane whose etcd can be restored to an earlier moment. Its address stays the same, so clients keep running.
 */
export interface Rewindable extends AsyncDisposable {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  backup(): Promise<Backup>;
  /**
   * Like a restore of etcd by an administrator: the API server is down meanwhile, and knows nothing of later changes.
   */
  rewind(to: Backup): Promise<void>;
}

const portOf = ({ server }: Cluster): number => Number(new URL(server).port);

export async function startRewindable(options: { controllerManager?: boolean } = {}): Promise<Rewindable> {
  await using opening = new AsyncDisposableStack();
  const { path } = opening.use(temporaryFolder("rewind"));
  const data = join(path, "cluster");
  const etcd = join(data, files.etcdData);
  let control = await startCluster({ ...options, data });
  opening.defer(() => control.stop());
  const cable = opening.use(await startCuttableProxy(portOf(control)));
  const kubeconfig = join(path, "kubeconfig");
  const config = await readFile(control.kubeconfig, "utf8");
  await writeFile(kubeconfig, config.replace(control.server, `https://127.0.0.1:${cable.port}`), { mode: 0o600 });
  let backups = 0;
  const whileDown = async (work: () => Promise<void>) => {
    await control.stop();
    await work();
    control = await startCluster({ ...options, data });
    cable.leadTo(portOf(control));
  };
  const closing = opening.move();
  return {
    kubeconfig,
    async backup() {
      backups += 1;
      const to = join(path, `backup-${backups}`);
      await whileDown(() => cp(etcd, to, { recursive: true }));
      return to;
    },
    rewind: (to) =>
      whileDown(async () => {
        await rm(etcd, { recursive: true });
        await cp(to, etcd, { recursive: true });
      }),
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
