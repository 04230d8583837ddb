import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resource, unfailingPlatformForFile } from "../simulator/platform.ts";
import { storageOf } from "../simulator/storage.ts";

/**
 * The requests of the platform's Terraform provider (6.7.34) in recorded order, for apply, plan, a change and destroy.
 * No module registry has the provider, so it cannot run here.
 */

const platform = await unfailingPlatformForFile();
const storage = storageOf(platform);

interface Request {
  /** Method, path and query as they are sent. */
  line: string;
  headers?: Record<string, string>;
  body?: string;
  status: number;
  /** The part of the answer that the provider reads: a required root element, or a code. */
  reads?: string;
}

async function replay(requests: Request[]): Promise<void> {
  for (const { line, headers, body, status, reads } of requests) {
    const [method = "", path = ""] = line.split(" ");
    const answer = await storage(method, path, body, headers);
    expect({ line, status: answer.status, text: answer.text }).toEqual({
      line,
      status,
      text: expect.stringContaining(reads ?? ""),
    });
  }
}

const xml = { "content-type": "application/xml" };
const etag = "5d41402abc4b2a76b9719d911017c592";

/** Every resource first asks for the location of its bucket. */
const located = (bucket: string): Request => ({
  line: `GET /${bucket}?location=`,
  status: 200,
  reads: "<LocationConstraint xmlns=",
});
const bucket = (name: string, locked: boolean): Request[] => [
  {
    line: `PUT /${name}`,
    headers: { ...xml, "x-amz-bucket-object-lock-enabled": String(locked) },
    body: "<CreateBucketConfiguration><LocationConstraint>local</LocationConstraint></CreateBucketConfiguration>",
    status: 200,
  },
  { line: `HEAD /${name}`, status: 200 },
  located(name),
];
/** The reads of a plan. */
const setting = (line: string, root: string): Request => ({ line, status: 200, reads: `<${root} xmlns=` });

describe("buckets, objects and their settings", () => {
  it("are made", () =>
    replay([
      ...bucket("tf-a", false),
      ...bucket("tf-l", true),
      {
        line: "PUT /tf-a?lifecycle=",
        headers: { ...xml, "content-md5": "Y5NhmlzPEfEvHO+vfbWabA==" },
        body: "<LifecycleConfiguration><Rule><ID>r</ID><Prefix></Prefix><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>",
        status: 200,
      },
      {
        line: "PUT /tf-a?publicAccessBlock=",
        headers: xml,
        body: "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>",
        status: 200,
      },
      {
        line: "PUT /tf-l?object-lock=",
        headers: { ...xml, "content-md5": "33a22b27598d8c1bac5984a59906bbaa" },
        body: "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>",
        status: 200,
      },
      {
        line: "PUT /tf-a?website=",
        headers: xml,
        body: "<WebsiteConfiguration><ErrorDocument><Key>error.html</Key></ErrorDocument><IndexDocument><Suffix>index.html</Suffix></IndexDocument></WebsiteConfiguration>",
        status: 200,
      },
      {
        line: "PUT /tf-a/dir/object",
        headers: { "content-type": "text/plain", "x-amz-storage-class": "STANDARD" },
        body: "hello",
        status: 200,
      },
      { line: "HEAD /tf-a/dir/object?versionId=", headers: { "if-match": etag }, status: 200 },
      {
        line: "PUT /tf-a/copy?x-amz-copy-source=",
        headers: { "x-amz-copy-source": "tf-a/dir/object", "x-amz-storage-class": "STANDARD" },
        status: 200,
        reads: "<CopyObjectResult xmlns=",
      },
      { line: "HEAD /tf-a/copy?versionId=", headers: { "if-match": etag }, status: 200 },
      {
        line: "PUT /tf-a?versioning=",
        headers: xml,
        body: "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>",
        status: 200,
      },
    ]));

  it("are read", () =>
    replay([
      located("tf-a"),
      { line: "GET /tf-a?object-lock=", status: 404, reads: "ObjectLockConfigurationNotFoundError" },
      { line: "GET /tf-a?tagging=", status: 404, reads: "NoSuchTagSet" },
      setting("GET /tf-l?object-lock=", "ObjectLockConfiguration"),
      setting("GET /tf-a?website=", "WebsiteConfiguration"),
      setting("GET /tf-a?lifecycle=", "LifecycleConfiguration"),
      setting("GET /tf-a?publicAccessBlock=", "BlockPublicAccessBlockConfiguration"),
      setting("GET /tf-a?versioning=", "VersioningConfiguration"),
      setting("GET /tf-a/dir/object?tagging=", "Tagging"),
      { line: "HEAD /tf-a/dir/object?versionId=", headers: { "if-match": etag }, status: 200 },
    ]));

  it("are destroyed", () =>
    replay([
      { line: "DELETE /tf-a?publicAccessBlock=", status: 204 },
      {
        line: "PUT /tf-a?versioning=",
        headers: xml,
        body: "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>",
        status: 200,
      },
      { line: "DELETE /tf-a?lifecycle=", status: 204 },
      { line: "DELETE /tf-a?website=", status: 204 },
      { line: "DELETE /tf-l", status: 204 },
      setting("GET /tf-a?max-keys=1000&prefix=copy&versions=", "ListVersionsResult"),
      { line: "DELETE /tf-a/copy?versionId=null", status: 204 },
      setting("GET /tf-a?max-keys=1000&prefix=dir%2Fobject&versions=", "ListVersionsResult"),
      { line: "DELETE /tf-a/dir/object?versionId=null", status: 204 },
      { line: "DELETE /tf-a", status: 204 },
    ]));
});

describe("core resources", () => {
  const query = "?depth=0&pretty=true";
  const read = async (path: string) => resource(await platform.core("GET", `${path}${query}`)).properties;
  const write = (method: string, path: string, body?: unknown) => platform.done(method, `${path}${query}`, body);
  const made = async (collection: string, properties: object) =>
    `${collection}/${resource(await write("POST", collection, { properties })).id}`;
  const nodes = z.object({
    nodeCount: z.int(),
    autoScaling: z.null().optional(),
    labels: z.object({ tier: z.string() }),
  });

  it("a node pool without autoscaling is made, changed and destroyed", async () => {
    const datacenter = await made("/datacenters", { location: "de/fra", name: "tf" });
    const cluster = await made("/k8s", { k8sVersion: "1.33.6", name: "tfk", public: true });
    const pool = await made(`${cluster}/nodepools`, {
      autoScaling: {},
      ...{
        availabilityZone: "AUTO",
        coresCount: 2,
        cpuFamily: "INTEL_SKYLAKE",
        datacenterId: datacenter.split("/")[2],
      },
      ...{ k8sVersion: "1.33.6", labels: { tier: "web" }, name: "pool", nodeCount: 1, ramSize: 4096 },
      ...{ serverType: "DedicatedCore", storageSize: 20, storageType: "SSD" },
    });
    expect(nodes.parse(await read(pool)).nodeCount).toBe(1);
    await write("PUT", pool, { properties: { autoScaling: {}, k8sVersion: "1.33.6", nodeCount: 2 } });
    expect(nodes.parse(await read(pool))).toMatchObject({ nodeCount: 2, labels: { tier: "web" } });
    for (const path of [pool, cluster, datacenter]) await write("DELETE", path);
  });

  it("the default security group of a datacenter is selected, and let go of before it is destroyed", async () => {
    const datacenter = await made("/datacenters", { location: "de/fra", name: "tf" });
    const group = await made(`${datacenter}/securitygroups`, { description: "d", name: "nsg" });
    await write("PATCH", datacenter, { defaultSecurityGroupId: group.split("/").at(-1) });
    expect((await read(datacenter)).defaultSecurityGroupId).toBe(group.split("/").at(-1));
    await write("PATCH", datacenter, { defaultSecurityGroupId: "" });
    await platform.done("DELETE", `${group}?pretty=true`);
    await write("DELETE", datacenter);
  });
});
