/**
 * The path of a call with its ids replaced, for metrics and logs, so that there are few values.
 * "/cloudapi/v6/datacenters/4f…/servers/9a…" becomes "/cloudapi/v6/datacenters/{id}/servers/{id}".
 */
export function routeOf(path: string): string {
  const segments = path.split("/");
  return segments
    .map((segment, index) => (isWord(segment) && !namesAnything(segments, index) ? segment : "{id}"))
    .join("/");
}

/** Collection names, actions and versions: "s3keys", "create-snapshot", "v1.ea". An id has more than one digit. */
function isWord(segment: string): boolean {
  return segment.length <= 32 && /^([a-z]+\d?[a-z.-]*)?$/i.test(segment);
}

/** Ids below these collections look like words: label keys, "de/fra". */
function namesAnything(segments: string[], index: number): boolean {
  return segments[index] !== "" && segments.slice(Math.max(0, index - 2), index).some(isNamed);
}

function isNamed(segment: string, position: number, before: string[]): boolean {
  return segment === "locations" || (segment === "labels" && position === before.length - 1);
}
