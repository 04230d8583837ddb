import { isIPv4 } from "node:net";

export const bucketNameRule =
  "3 to 63 characters of a-z, 0-9, - and . with one of a-z or 0-9 at both ends, not an IP address";

/** What S3 takes as the name of a bucket. */
export function isBucketName(name: string): boolean {
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(name) || name.includes("..") || isIPv4(name)) return false;
  return !name.startsWith("xn--") && !name.endsWith("-s3alias");
}
