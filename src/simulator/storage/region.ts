/** The region of a bucket whose maker names none, and of a storage whose address names none. */
export const defaultRegion = "eu-central-1";

/** The region in a host such as s3.eu-central-3.example.com. */
export const regionOf = (url: string) => /^https?:\/\/s3[.-]([a-z]+(?:-[a-z]+)*-\d)\./.exec(url)?.[1] ?? defaultRegion;
