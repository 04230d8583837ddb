import { join } from "node:path";
import { applyObject, install, writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { connect } from "../../src/kube/client/config.ts";
import type { KubeClient } from "../../src/kube/client/transport.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { policiesOfLives, readKubeconfig } from "./narrow.ts";

/** What all runs share: one API server with Mooring installed, and a folder for what they leave behind. */
export interface Base extends AsyncDisposable {
  readonly admin: KubeClient;
  readonly server: string;
  readonly ca: Buffer;
  /** With this the operator is nobody but its own ServiceAccount. */
  readonly operatorToken: string;
  /** Compiled code of the operator. */
  readonly cache: string;
  /** The source of the version that runs until the first kill; absent: this one. */
  readonly former: string | undefined;
  /** Each process of the operator is in a pod of its own. */
  readonly elsewhere: boolean;
  /** One folder per run; those of good runs are removed. */
  readonly folder: string;
  /** The folder stays when this base goes: something in it is worth reading. */
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
  for (const policy of policiesOfLives()) await applyObject(admin, policy);
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
