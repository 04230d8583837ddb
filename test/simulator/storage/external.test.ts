import { CreateBucketCommand, ListBucketsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { clientFor } from "../../clients/s3/client.ts";
import { type Platform, platformForFile, refusal, resource, serverBody, startPlatform } from "../platform.ts";

/** Another simulator is the external S3. The first one knows only its URL and key. */
const elsewhere = await platformForFile({ seed: 2 });
const client = clientFor(elsewhere.ready.endpoints.objectStorage, elsewhere.ready.s3);
afterAll(() => client.destroy());
afterEach(() => vi.unstubAllEnvs());

function setKeys({ accessKey, secretKey }: Platform["ready"]["s3"]): void {
  vi.stubEnv("MOORING_S3_ACCESS_KEY", accessKey);
  vi.stubEnv("MOORING_S3_SECRET_KEY", secretKey);
}

const start = (objectStorage = elsewhere.ready.endpoints.objectStorage) =>
  startPlatform({ objectStorage, buckets: ["made-at-start"] });

async function newNic(platform: Pick<Platform, "datacenter" | "done">): Promise<string> {
  const servers = `${await platform.datacenter()}/servers`;
  const { id, entities } = resource(await platform.done("POST", servers, serverBody()));
  return `${servers}/${id}/nics/${entities?.nics?.items?.[0]?.id}`;
}

describe("an object storage elsewhere", { timeout: 60_000 }, () => {
  it("gets the buckets and the flow logs", async () => {
    setKeys(elsewhere.ready.s3);
    await using cleanup = new AsyncDisposableStack();
    const platform = await start();
    cleanup.defer(() => platform.close());
    const { objectStorage } = platform.ready.endpoints;
    expect(platform.ready).toMatchObject({ s3: elsewhere.ready.s3 });
    expect(objectStorage).toBe(elsewhere.ready.endpoints.objectStorage);
    const { Buckets } = await client.send(new ListBucketsCommand());
    expect(Buckets?.map(({ Name }) => Name)).toEqual(["flow-logs", "made-at-start"]);

    const nic = await newNic(platform);
    const log = (bucket: string) => ({ properties: { name: "a log", action: "ALL", direction: "INGRESS", bucket } });
    expect(refusal(await platform.core("POST", `${nic}/flowlogs`, log("later")), 422, "100")).toContain("later");
    await platform.done("POST", `${nic}/flowlogs`, log("made-at-start/x/"));
    await platform.steer("POST", "flow-logs");
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: "made-at-start" }));
    expect(Contents?.map(({ Key }) => Key)).toContainEqual(expect.stringMatching(/^x\/a log-.*\.log\.gz$/));
  });

  it("takes flow logs of every contract, each in buckets of its own", async () => {
    setKeys(elsewhere.ready.s3);
    await using cleanup = new AsyncDisposableStack();
    await client.send(new CreateBucketCommand({ Bucket: "shared" }));
    const platform = await start();
    cleanup.defer(() => platform.close());
    const other = await platform.contract();
    const [nic, otherNic] = [await newNic(platform), await newNic(other)];
    const properties = { name: "theirs", action: "ALL", direction: "INGRESS", bucket: "shared" };
    const first = { properties: { ...properties, bucket: "flow-logs" } };
    refusal(await other.core("POST", `${otherNic}/flowlogs`, first), 422, "100");
    await other.done("POST", `${otherNic}/flowlogs`, { properties });
    await other.steer("POST", "flow-logs");
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "shared" }));
    // One object per interval; two if the first interval ended during the test.
    expect(Contents.length).toBeGreaterThan(0);
    for (const { Key } of Contents) expect(Key).toMatch(/^theirs-/);
    refusal(await platform.core("POST", `${nic}/flowlogs`, { properties }), 422, "100");
    await platform.done("POST", `${nic}/flowlogs`, first);
  });

  it("is not used without a key, with a wrong one, or when nobody is there", async () => {
    setKeys({ accessKey: "", secretKey: "" });
    await expect(start()).rejects.toThrow("MOORING_S3_ACCESS_KEY");
    setKeys({ ...elsewhere.ready.s3, secretKey: "wrong" });
    await expect(start()).rejects.toThrow("SignatureDoesNotMatch");
    await expect(start("http://127.0.0.1:1")).rejects.toThrow(
      "the object storage at http://127.0.0.1:1 cannot be used",
    );
  });
});
