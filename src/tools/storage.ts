import { AwsV4Signer } from "aws4fetch";
import { z } from "zod";
import type { PlatformReader, ReadCall } from "../diagnostics/reader.ts";
import { NotFound } from "../platform/answers/errors.ts";
import { encodePath, regionOf } from "../platform/products/s3.ts";
import { fromXml } from "./shape/xml.ts";

const regionShape = z.looseObject({ properties: z.looseObject({ endpoint: z.string().min(1) }) });

/** Object storage: signs calls, and sends those about a bucket to its region. */
export function createStorage(platform: PlatformReader) {
  async function signed(call: ReadCall, region: string | undefined): Promise<ReadCall> {
    const { accessKey, secretKey } = await platform.storageKeys(call.signal);
    const signer = new AwsV4Signer({
      method: call.method,
      url: call.url,
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: "s3",
      region: region ?? platform.storageRegion ?? regionOf(call.url),
    });
    const { url, headers } = await signer.sign();
    return { ...call, url: url.href, headers: Object.fromEntries(headers.entries()) };
  }

  async function send(call: ReadCall, region?: string) {
    return platform.read(await signed(call, region));
  }

  /** The address and region of a bucket; the default region if the platform names none. */
  async function placeOf(bucket: string, signal: AbortSignal): Promise<{ base: string; region?: string }> {
    const base = trimmed(platform.endpoint("objectStorage"));
    const url = `${base}/${encodePath(bucket)}?location=`;
    const { body } = await send({ method: "GET", url, answers: "text", product: "objectstorage", signal });
    const region = fromXml(String(body ?? ""));
    if (typeof region !== "string" || region === "") return { base };
    return { base: (await hostOf(region, signal)) ?? base, region };
  }

  /** Undefined if the region is unknown: other object storages have no regions. */
  async function hostOf(region: string, signal: AbortSignal): Promise<string | undefined> {
    const management = platform.has("objectStorageManagement")
      ? trimmed(platform.endpoint("objectStorageManagement"))
      : undefined;
    if (management === undefined) return undefined;
    const url = `${management}/regions/${encodeURIComponent(region)}`;
    const reply = await platform.read({ method: "GET", url, product: "management", signal }).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
    if (reply === undefined) return undefined;
    const { endpoint } = regionShape.parse(reply.body).properties;
    return trimmed(/^https?:\/\//.test(endpoint) ? endpoint : `https://${endpoint}`);
  }

  return {
    /** Reads a path in the default region, or in the region of the bucket. */
    async read(call: Omit<ReadCall, "url">, path: string, query: string, bucket: string | undefined) {
      const { base, region } =
        bucket === undefined
          ? { base: trimmed(platform.endpoint("objectStorage")) }
          : await placeOf(bucket, call.signal);
      return send({ ...call, url: base + path + query }, region);
    },
  };
}

const trimmed = (url: string) => url.replace(/\/+$/, "");
