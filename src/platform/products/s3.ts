/**
 * Every byte that is not plain in a signed path is encoded, except the slashes. A path with a segment "." or ".." is refused, also
 * one that somebody on the way would read as such after decoding it once more: URLs lead elsewhere with them.
 */
export function encodePath(path: string): string {
  const read = path.replaceAll(/%(25)*2e/gi, ".").replaceAll(/%(25)*(2f|5c)|\\/gi, "/");
  if (read.split("/").some((segment) => segment === "." || segment === ".."))
    throw new Error(`the key ${JSON.stringify(path.slice(0, 128))}: the segments "." and ".." are not allowed`);
  return path
    .split("/")
    .map((segment) => encodeURIComponent(segment).replaceAll(/[!'()*]/g, percent))
    .join("/");
}

const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

/** The region that the host of an endpoint names; storage that has no regions takes any. */
export function regionOf(endpoint: string): string {
  return /^https?:\/\/s3[.-]([a-z]+(?:-[a-z]+)*-\d)\./.exec(endpoint)?.[1] ?? "eu-central-1";
}
