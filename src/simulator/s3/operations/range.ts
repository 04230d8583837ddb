import { fault } from "../fault.ts";

export interface Range {
  first: number;
  last: number;
}

/** The bytes that `x-amz-copy-source-range` asks for: both ends, within the source. */
export function sourceRange(header: string | undefined, size: number): Range {
  if (header === undefined) return { first: 0, last: size - 1 };
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(header) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (first <= last && last < size) return { first, last };
  throw fault(
    "InvalidArgument",
    `x-amz-copy-source-range must be bytes=first-last within the ${size} bytes of the source`,
  );
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
