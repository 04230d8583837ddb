import { readOnlyConnection } from "../../diagnostics/landscape/read-only-connection.ts";
import type { PlatformReader } from "../../diagnostics/reader.ts";
import { type AccountHandle, accountTitle } from "../../engine/accounts/accounts.ts";
import { readSharing } from "../../kinds/identity/cluster-account.ts";
import type { KubeObject } from "../../kube/resource.ts";
import type { Connection } from "../../platform/calls/transport.ts";

/** An Account as the operator would use it; with the reason if the platform cannot be reached. */
export async function openHandle(
  key: string,
  object: KubeObject | undefined,
  open: () => Promise<PlatformReader>,
  signal: AbortSignal,
): Promise<{ handle: AccountHandle; reader?: PlatformReader }> {
  const adoption = object?.metadata.namespace === undefined ? readSharing(object?.spec).adoption : "Any";
  try {
    const reader = await open();
    const connection = readOnlyConnection(key, reader, signal);
    return { reader, handle: { key, connection, endpoint: reader.endpoint, adoption, obstacle: undefined } };
  } catch (error) {
    signal.throwIfAborted();
    const text = error instanceof Error ? error.message : String(error);
    // The plan names the Account before it.
    const title = `${accountTitle(key)}: `;
    const message = text.startsWith(title) ? text.slice(title.length) : text;
    const refuse = (): never => {
      throw new Error(message);
    };
    const connection: Connection = {
      id: key,
      send: async () => refuse(),
      setCredentials: () => {},
      identity: undefined,
      contractNumber: undefined,
      close: async () => {},
    };
    const obstacle = { reason: "AccountNotReady", message } as const;
    return { handle: { key, connection, endpoint: refuse, adoption, obstacle } };
  }
}
