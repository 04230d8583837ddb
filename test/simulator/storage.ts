import { AwsClient } from "aws4fetch";
import type { Platform } from "./platform.ts";

type Keys = Platform["ready"]["s3"];

/** Signed calls to the storage of a platform, with the owner's key by default. */
export function storageOf({ ready }: Platform, { accessKey, secretKey }: Keys = ready.s3) {
  const client = new AwsClient({
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    service: "s3",
    region: "eu-central-1",
    retries: 0,
  });
  return async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const init = { method, headers, ...(body !== undefined && { body }) };
    const response = await client.fetch(ready.endpoints.objectStorage + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, code: /<Code>(\w+)</.exec(text)?.[1] };
  };
}
