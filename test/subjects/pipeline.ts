import { ROTATE_AT } from "../../src/engine/state/names.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { PromisedSecret } from "../crash/secrets.ts";
import type { Change } from "./subject.ts";

/** The last change in the life of what has a key: a new one. */
export const rotated = (spec: object): Change => ({
  title: "rotate",
  spec,
  annotations: { [ROTATE_AT]: "first" },
  renewsKey: true,
});

/** Sends what a workload would, with what is in its Secret and nothing else. */
export async function deliver(url = "", key = "", type = "", body = ""): Promise<string | undefined> {
  const headers = { apikey: key, "content-type": type };
  const { status } = await fetch(url, { method: "POST", headers, body });
  return status === 204 ? undefined : `the platform answers ${status} to what is sent with its key`;
}

export const secretOf =
  (works: PromisedSecret["works"]) =>
  (object: KubeObject): PromisedSecret[] => [{ name: readStatus(object).secretName ?? "", works }];
