import { join } from "node:path";
import { applyObject, install, writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { policiesOfLives, readKubeconfig, rightsOfLives } from "./narrow.ts";

/** Shared by all runs: one API server with Mooring installed, and a folder for their output. */
export interface Base extends AsyncDisposable {
  readonly admin: KubeClient;
  readonly server: string;
  readonly ca: Buffer;
  /** The token of the operator's ServiceAccount. */
  readonly operatorToken: string;
  /** Compiled code of the operator. */
  readonly cache: string;
  /** The source of the version that runs until the first kill; absent: this version. */
  readonly former: string | undefined;
  /** Each process of the operator is in another pod. */
  readonly elsewhere: boolean;
  /** One folder per run; those of successful runs are removed. */
  readonly folder: string;
  /** Keeps the folder, because it has something to read. */
  keep(): void;
}

export async function openBase(
  kubeconfig: string,
  { former, elsewhere = false }: { former?: string | undefined; elsewhere?: boolean | undefined } = {},
): Promise<Base> {
  await using opening = new AsyncDisposableStack();
  const admin = await connect({ kubeconfig });
  opening.defer(() => admin.close());
  const folder = temporaryFolder("crash");
  const { path: cache } = opening.use(temporaryFolder("crash-cache"));
  let kept = false;
  opening.defer(() => (kept ? folder.keep() : folder.remove()));
  await install(admin);
  for (const manifest of [...policiesOfLives(), ...rightsOfLives()]) await applyObject(admin, manifest);
  const path = join(cache, "kubeconfig");
  await writeOperatorKubeconfig(admin, kubeconfig, path);
  const { server, ca, token } = await readKubeconfig(path);
  const closing = opening.move();
  return {
    admin,
    server,
    ca,
    operatorToken: token,
    cache,
    former,
    elsewhere,
    folder: folder.path,
    keep() {
      kept = true;
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}
