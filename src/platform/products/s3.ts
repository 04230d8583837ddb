/** Every byte that is not plain in a signed path is encoded, except the slashes. */
export function encodePath(path: string): string {
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
