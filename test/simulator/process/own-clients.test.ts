import { X509Certificate } from "node:crypto";
import { CreateBucketCommand, ListBucketsCommand, ListObjectsV2Command, PutObjectCommand } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { clientFor } from "../../clients/s3/client.ts";
import { networkOf } from "../network.ts";
import { serviceFor, stream } from "../pipelines.ts";
import { type Platform, platformForFile, refusal, resource } from "../platform.ts";
import { streamingOf } from "../streaming.ts";

/** Behaviour that the platform's own tools and SDKs rely on. */

const platform = await platformForFile();

describe("right after its creation", () => {
  it.each([
    ["a cross connect", "/pccs", { name: "cross" }, "BUSY"],
    ["a backup unit", "/backupunits", { name: "nightly", password: "verySecret1", email: "b@example.org" }, "BUSY"],
    ["a Kubernetes cluster", "/k8s", { name: "apps" }, "DEPLOYING"],
  ])("%s is visible in its first state", async (_, path, properties, state) => {
    const { id } = resource(await platform.core("POST", path, { properties }));
    expect(resource(await platform.core("GET", `${path}/${id}`)).metadata.state).toBe(state);
    await platform.faults({ fault: "late-visibility", seconds: 30 });
    const late = resource(await platform.core("POST", path, { properties: { ...properties, name: "late" } })).id;
    refusal(await platform.core("GET", `${path}/${late}`), 404, "309");
    await platform.advance(60);
    expect((await platform.core("GET", `${path}/${late}`)).status).toBe(200);
    await platform.faults();
  });

  it.each([
    ["a metric pipeline", "monitoring", {}],
    ["a log pipeline", "logging", { logs: [stream()] }],
  ] as const)("%s is visible in its first state", async (_, service, properties) => {
    const { call } = serviceFor(platform, service);
    const { id } = resource(await call("POST", "/pipelines", { properties: { name: "shop", ...properties } }));
    const { metadata } = resource(await call("GET", `/pipelines/${id}`));
    expect(metadata.state ?? metadata.status).toBe("PROVISIONING");
  });

  it.each(["/datacenters", "/ipblocks"])("resources in %s take a moment", async (path) => {
    const properties = { name: "late", location: "de/fra", size: 1 };
    const { id } = resource(await platform.core("POST", path, { properties }));
    refusal(await platform.core("GET", `${path}/${id}`), 404, "309");
  });
});

describe("user management", () => {
  it("names a request that is DONE after every write, without the body", async () => {
    const password = "ofAda-12345";
    const person = { firstname: "Ada", lastname: "Lovelace", email: "ada@example.org", password };
    const isDone = async (method: string, path: string, body?: object) => {
      const answer = await platform.core(method, path, body);
      expect(await platform.requestOf(answer), `${method} ${path}`).toMatchObject({ status: "DONE" });
      return answer;
    };
    const group = `/um/groups/${resource(await isDone("POST", "/um/groups", { properties: { name: "all" } })).id}`;
    const { id } = resource(await isDone("POST", "/um/users", { properties: person }));
    const user = `/um/users/${id}`;
    await isDone("PUT", user, { properties: { ...person, lastname: "King" } });
    await isDone("POST", `${group}/users`, { id });
    await isDone("DELETE", `${group}/users/${id}`);
    const key = resource(await isDone("POST", `${user}/s3keys`));
    await isDone("PUT", `${user}/s3keys/${key.id}`, { properties: { active: false } });
    await isDone("DELETE", `${user}/s3keys/${key.id}`);
    await isDone("PUT", group, { properties: { name: "everybody" } });
    await isDone("DELETE", group);
    await isDone("DELETE", user);
    const log = JSON.stringify((await platform.core("GET", "/requests?depth=2")).body);
    expect([log.includes(user), log.includes(password)]).toEqual([true, false]);
  });

  it.each([
    ["is forced to use two factors", { forceSecAuth: true }, {}],
    ["uses two factors", {}, { twoFactor: true }],
  ])("a user who %s cannot use a password, on any host", async (name, properties, steered) => {
    const email = `${name.replaceAll(" ", "-")}@example.org`;
    const { userId, token } = await platform.user(email, steered);
    const basic = { authorization: `Basic ${Buffer.from(`${email}:secret-1`).toString("base64")}` };
    const hosts = ["/cloudapi/v6/contracts", "/auth/v1/tokens", "/autoscaling/groups", "/monitoring/de-txl/pipelines"];
    const person = { firstname: "A", lastname: "B", email, ...properties };
    expect(await platform.core("PUT", `/um/users/${userId}`, { properties: person })).toMatchObject({ status: 200 });
    for (const path of hosts) {
      expect((await platform.call("GET", path, undefined, basic)).status, path).toBe(401);
    }
    const bearer = { authorization: `Bearer ${token}` };
    expect((await platform.core("GET", "/contracts", undefined, bearer)).status).toBe(200);
  });
});

describe("object storage", () => {
  it("calls the contract the owner of buckets and objects, each contract its own", async () => {
    const ownersSeen = async ({ ready }: Pick<Platform, "ready">, bucket: string) => {
      const client = clientFor(ready.endpoints.objectStorage, ready.s3);
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: "a", Body: "b" }));
      const { Owner } = await client.send(new ListBucketsCommand());
      const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: bucket, FetchOwner: true }));
      client.destroy();
      return [Owner?.ID, Contents?.[0]?.Owner?.ID];
    };
    const other = await platform.contract();
    const client = clientFor(other.ready.endpoints.objectStorage, other.ready.s3);
    await client.send(new CreateBucketCommand({ Bucket: "theirs" }));
    client.destroy();
    for (const [each, bucket] of [
      [platform, "flow-logs"],
      [other, "theirs"],
    ] as const) {
      const contract = String(each.ready.contractNumber);
      expect(await ownersSeen(each, bucket)).toEqual([contract, contract]);
    }
    expect(other.ready.contractNumber).not.toBe(platform.ready.contractNumber);
  });
});

describe("the network", () => {
  it("takes bare addresses of a NAT gateway as those of a /24", async () => {
    const datacenter = await platform.datacenter();
    const network = networkOf(platform);
    const id = await network.lan(datacenter);
    const { ip } = await network.block();
    const body = (gatewayIps: string[]) => ({
      properties: { name: "nat", publicIps: [ip], lans: [{ id, gatewayIps }] },
    });
    const path = `${datacenter}/natgateways`;
    const { properties } = resource(await platform.core("POST", path, body(["10.1.0.1", "10.1.0.2/16"])));
    expect(properties.lans).toEqual([{ id, gatewayIps: ["10.1.0.1/24", "10.1.0.2/16"] }]);
    refusal(await platform.core("POST", path, body(["10.1.0"])), 422, "100");
  });

  it("does not let the family of a VCPU server be named, also not as it is, but for the whole read back", async () => {
    const servers = `${await platform.datacenter()}/servers`;
    const properties = { name: "v", type: "VCPU", cores: 1, ram: 1024 };
    expect(
      await platform.core("POST", servers, { properties: { ...properties, cpuFamily: "INTEL_SKYLAKE" } }),
    ).toMatchObject({ status: 422 });
    const path = await platform.made(servers, { properties });
    const { cpuFamily } = resource(await platform.core("GET", path)).properties;
    expect(await platform.core("PATCH", path, { cpuFamily })).toMatchObject({ status: 422 });
    expect(await platform.core("PUT", path, { properties: { ...properties, cpuFamily } })).toMatchObject({
      status: 202,
    });
  });
});

describe("event streaming", async () => {
  const streaming = await streamingOf(platform);
  const cluster = await streaming.cluster();

  it("shows how long a topic keeps records where nobody said so", async () => {
    const shown = async (name: string, logRetention?: object) =>
      resource(await streaming.call("GET", await streaming.topic(cluster, { name, logRetention }))).properties
        .logRetention;
    expect(await shown("silent")).toEqual({ retentionTime: 604_800_000, segmentBytes: 1_073_741_824 });
    expect(await shown("half", { retentionTime: -1 })).toEqual({ retentionTime: -1, segmentBytes: 1_073_741_824 });
  });

  it("issues client certificates of 365 days", async () => {
    const { validFromDate, validToDate } = new X509Certificate((await streaming.access(cluster)).certificate);
    expect(validToDate.getTime() - validFromDate.getTime()).toBe(365 * 86_400_000);
  });
});
