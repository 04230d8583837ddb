import { isForbidden } from "../../kube/client/errors.ts";
import type { ClusterReader } from "../cluster.ts";
import type { PlatformReader } from "../reader.ts";
import type { Sources } from "../sources.ts";

/** One result of the doctor. */
export interface Check {
  area: "cluster" | "operator" | "rights" | "account";
  check: string;
  status: "ok" | "warn" | "fail";
  message: string;
  /** The way out, if something must be done. */
  fix?: string;
}

/** The inputs of the doctor. */
export interface DoctorInput {
  sources: Sources;
  cluster: ClusterReader;
  platformOf(account: string): Promise<PlatformReader>;
  /** The namespace to check; undefined for all. */
  namespace: string | undefined;
  /** The only Account to check: NAME, NAMESPACE/NAME or ClusterAccount/NAME. */
  account?: string | undefined;
  /** The version of this program, to compare with the operator's. */
  version: string | undefined;
}

export const ok = (area: Check["area"], check: string, message: string): Check => ({
  area,
  check,
  status: "ok",
  message,
});
export const warn = (area: Check["area"], check: string, message: string, fix: string): Check => ({
  area,
  check,
  status: "warn",
  message,
  fix,
});
export const fail = (area: Check["area"], check: string, message: string, fix: string): Check => ({
  area,
  check,
  status: "fail",
  message,
  fix,
});

/** A message of the form "what is wrong: the way out", in its two parts. */
export function apart(text: string): { message: string; fix: string } {
  const [, message = text, fix = "nothing"] = /^(.+?): (.+)$/s.exec(text) ?? /^(.+); (.+)$/s.exec(text) ?? [];
  return { message, fix };
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const RETRY = "check that kubectl get --raw /version works from this machine, and try again";

/** Runs a check. If the caller lacks a right, the result is a warning that says so. */
export async function examine(
  { sources }: DoctorInput,
  area: Check["area"],
  check: string,
  run: () => Promise<Check | Check[]>,
): Promise<Check[]> {
  try {
    const found = await run();
    return Array.isArray(found) ? found : [found];
  } catch (error) {
    sources.signal.throwIfAborted();
    if (isForbidden(error)) {
      return [
        warn(area, check, `not checked: ${messageOf(error)}`, "ask somebody with this right to run mooring doctor"),
      ];
    }
    return [fail(area, check, messageOf(error), RETRY)];
  }
}
