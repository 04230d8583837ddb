import { AwsV4Signer } from "aws4fetch";
import { z } from "zod";
import type { PlatformReader, ReadCall } from "../diagnostics/reader.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { encodePath, regionOf } from "../platform/products/s3.ts";
import { fromXml } from "./shape/xml.ts";

const region = z.looseObject({ properties: z.looseObject({ endpoint: z.string().min(1) }) });

/** Object storage: signs calls, and sends those about a bucket to its region. */
export function createStorage(platform: PlatformReader) {
  async function signed(call: ReadCall, name: string | undefined): Promise<ReadCall> {
    const { accessKey, secretKey } = await platform.storageKeys(call.signal);
    const signer = new AwsV4Signer({
      method: call.method,
      url: call.url,
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: "s3",
      region: name ?? platform.storageRegion ?? regionOf(call.url),
    });
    const { url, headers } = await signer.sign();
    return { ...call, url: url.href, headers: Object.fromEntries(headers.entries()) };
  }

  async function send(call: ReadCall, name?: string) {
    return platform.read(await signed(call, name));
  }

  /** The address and region of a bucket; the default region if the platform names none. */
  async function home(bucket: string, signal: AbortSignal): Promise<{ base: string; name?: string }> {
    const base = trimmed(platform.endpoint("objectStorage"));
    const url = `${base}/${encodePath(bucket)}?location=`;
    const { body } = await send({ method: "GET", url, answers: "text", product: "objectstorage", signal });
    const name = fromXml(String(body ?? ""));
    if (typeof name !== "string" || name === "") return { base };
    return { base: (await hostOf(name, signal)) ?? base, name };
  }

  /** Undefined if the region is unknown: other object storages have no regions. */
  async function hostOf(name: string, signal: AbortSignal): Promise<string | undefined> {
    const management = platform.has("objectStorageManagement")
      ? trimmed(platform.endpoint("objectStorageManagement"))
      : undefined;
    if (management === undefined) return undefined;
    const url = `${management}/regions/${encodeURIComponent(name)}`;
    const reply = await platform.read({ method: "GET", url, product: "management", signal }).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
    if (reply === undefined) return undefined;
    const { endpoint } = region.parse(reply.body).properties;
    return trimmed(/^https?:\/\//.test(endpoint) ? endpoint : `https://${endpoint}`);
  }

  return {
    /** Reads a path in the default region, or in the region of the bucket. */
    async read(call: Omit<ReadCall, "url">, path: string, query: string, bucket: string | undefined) {
      const { base, name } =
        bucket === undefined ? { base: trimmed(platform.endpoint("objectStorage")) } : await home(bucket, call.signal);
      return send({ ...call, url: base + path + query }, name);
    },
  };
}

const trimmed = (url: string) => url.replace(/\/+$/, "");
