/**
 * Encodes a path for signing: all special characters except slashes. Rejects the segments "." and "..", also encoded ones that
 * a proxy may decode once more, because they lead to another path.
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

/** The region in the host name of an endpoint. The default is for storage without regions, which accepts any. */
export function regionOf(endpoint: string): string {
  return /^https?:\/\/s3[.-]([a-z]+(?:-[a-z]+)*-\d)\./.exec(endpoint)?.[1] ?? "eu-central-1";
}
