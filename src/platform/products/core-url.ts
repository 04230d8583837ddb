import { withoutTrailing } from "../../runtime/text.ts";
export const corePath = "/cloudapi/v6";
export const corePageSize = 1_000;

/** The URL of a core path, for an `api` with or without a trailing slash or the base path. */
export function coreUrl(api: string, path: string): string {
  const root = withoutTrailing(api, "/");
  return (root.endsWith(corePath) ? root : root + corePath) + path;
}
