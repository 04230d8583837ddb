import type { Pipeline, Stream } from "../pipelines/records.ts";

/** Why a pipeline does not take lines with a tag over a protocol; undefined when it does. */
export function objection({ logs }: Pipeline, tag: string, protocol: Stream["protocol"]): string | undefined {
  const stream = logs.find((each) => each.tag === tag);
  if (stream === undefined) return `the pipeline has no log with the tag "${tag.slice(0, 100)}"`;
  if (stream.protocol !== protocol) return `the log "${tag}" takes ${stream.protocol}, not ${protocol}`;
  return undefined;
}
