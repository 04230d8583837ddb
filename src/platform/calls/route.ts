/**
 * The path of a call with its ids replaced, for metrics and logs, so that there are few values.
 * "/cloudapi/v6/datacenters/4f…/servers/9a…" becomes "/cloudapi/v6/datacenters/{id}/servers/{id}".
 */
export function routeOf(path: string): string {
  const segments = path.split("/");
  return segments
    .map((segment, index) => (isWord(segment) && !isWordLikeId(segments, index) ? segment : "{id}"))
    .join("/");
}

/** Collection names, actions and versions: "s3keys", "create-snapshot", "v1.ea". An id has more than one digit. */
function isWord(segment: string): boolean {
  return segment.length <= 32 && /^([a-z]+\d?[a-z.-]*)?$/i.test(segment);
}

/** Ids that look like words: a label key, and the two parts of a location such as "de/fra". */
function isWordLikeId(segments: string[], index: number): boolean {
  const [parent, grandparent] = [segments[index - 1], segments[index - 2]];
  return segments[index] !== "" && (parent === "labels" || parent === "locations" || grandparent === "locations");
}
