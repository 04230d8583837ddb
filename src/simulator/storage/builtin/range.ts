import { fault } from "./fault.ts";

export interface Range {
  first: number;
  last: number;
}

/** The bytes that a Range header asks for; undefined: all, also for forms that S3 does not serve. */
export function rangeIn(header: string | undefined, size: number): Range | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  const first = from === "" ? Math.max(size - Number(to), 0) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== "" && to !== "" && Number(to) < first) return undefined;
  if (first > last) {
    throw fault("InvalidRange", "The range lies behind the end of the object", {
      RangeRequested: header ?? "",
      ActualObjectSize: String(size),
    });
  }
  return { first, last };
}
