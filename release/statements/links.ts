import { posix } from "node:path";
import type { Identity } from "../artifacts/image.ts";

/** A page of a folder of the repository. Its links become addresses at the tag of this version: it is read elsewhere. */
export function withAddresses(page: string, folder: string, { source, version }: Pick<Identity, "source" | "version">) {
  const files = `${source}/blob/v${version}`;
  return page.replaceAll(
    /\]\(([^)#:\s]+)(#[^)\s]*)?\)/g,
    (_, path: string, anchor = "") => `](${files}/${posix.join(folder, path)}${anchor})`,
  );
}
