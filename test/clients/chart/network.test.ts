import { createPrivateKey, X509Certificate } from "node:crypto";
import { connect } from "node:tls";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { openServer } from "../../../src/server/open-server.ts";
import { both, deployment, findHelm, rendered } from "./chart.ts";

beforeAll(findHelm, 300_000);

const servers = ["gateway", "tools"] as const;
const service = z.looseObject({ spec: z.looseObject({ ports: z.array(z.looseObject({ port: z.number() })) }) });
const pair = z.looseObject({
  type: z.string(),
  data: z.object({ "tls.crt": z.string(), "tls.key": z.string(), "ca.crt": z.string() }),
});
const decoded = (text: string) => Buffer.from(text, "base64").toString();

/** Whether a client that has ca.crt trusts a server with this pair. */
async function isTrusted(data: z.output<typeof pair>["data"], host: string): Promise<boolean> {
  const own = { cert: decoded(data["tls.crt"]), key: decoded(data["tls.key"]) };
  const { server, url } = await openServer({ host: "127.0.0.1", port: 0 }, (_, response) => response.end(), own);
  try {
    return await new Promise((resolve, reject) => {
      const ca = decoded(data["ca.crt"]);
      const port = Number(new URL(url).port);
      const socket = connect({ port, host: "127.0.0.1", servername: host, ca }, () => {
        resolve(socket.authorized);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  } finally {
    server.close();
  }
}

describe.each(servers)("the %s of the chart", (server) => {
  const name = `mooring-${server}`;

  it("is served over TLS by default, with a certificate for its Service", async () => {
    const all = await rendered(...both);
    const { type, data } = pair.parse(all.get(`Secret/${name}-tls`));
    expect(type).toBe("kubernetes.io/tls");
    const certificate = new X509Certificate(decoded(data["tls.crt"]));
    expect(certificate.checkPrivateKey(createPrivateKey(decoded(data["tls.key"])))).toBe(true);
    for (const host of [name, `${name}.mooring-system`, `${name}.mooring-system.svc`])
      expect(certificate.checkHost(host)).toBe(host);
    expect(certificate.verify(new X509Certificate(decoded(data["ca.crt"])).publicKey)).toBe(true);
    expect(await isTrusted(data, `${name}.mooring-system.svc`)).toBe(true);
    const { spec } = deployment.parse(all.get(`Deployment/${name}`)).spec.template;
    const [{ args, readinessProbe }] = spec.containers;
    expect(args).toContain("--tls-cert-file=/etc/mooring-tls/tls.crt");
    expect(args).toContain("--tls-key-file=/etc/mooring-tls/tls.key");
    if (server === "tools") expect(readinessProbe.httpGet.scheme).toBe("HTTPS");
    expect(JSON.stringify(spec.volumes)).toContain(`"secretName":"${name}-tls"`);
    expect(service.parse(all.get(`Service/${name}`)).spec.ports[0]?.port).toBe(443);
  });

  it("takes a Secret that is given, or has cert-manager write one", async () => {
    const given = await rendered(...both, `${server}.tlsSecret="mine"`);
    expect(given.has(`Secret/${name}-tls`)).toBe(false);
    expect(JSON.stringify(given.get(`Deployment/${name}`))).toContain('"secretName":"mine"');
    const issued = await rendered(...both, `${server}.tls.issuerRef={"kind":"ClusterIssuer","name":"internal"}`);
    expect(issued.has(`Secret/${name}-tls`)).toBe(false);
    expect(issued.get(`Certificate/${name}`)).toMatchObject({
      apiVersion: "cert-manager.io/v1",
      spec: {
        secretName: `${name}-tls`,
        dnsNames: expect.arrayContaining([`${name}.mooring-system.svc`]),
        issuerRef: { kind: "ClusterIssuer", name: "internal" },
      },
    });
    expect(JSON.stringify(issued.get(`Deployment/${name}`))).toContain(`"secretName":"${name}-tls"`);
  });

  it("is served without TLS only where somebody says so", async () => {
    const plain = await rendered(...both, `${server}.tls.enabled=false`);
    expect(plain.has(`Secret/${name}-tls`)).toBe(false);
    expect(JSON.stringify(plain.get(`Deployment/${name}`))).not.toContain("tls");
    expect(service.parse(plain.get(`Service/${name}`)).spec.ports[0]?.port).toBe(80);
  });
});

const policy = z.looseObject({
  spec: z.looseObject({
    podSelector: z.looseObject({}),
    policyTypes: z.array(z.string()),
    ingress: z.array(
      z.looseObject({ ports: z.array(z.looseObject({ port: z.string() })), from: z.unknown().optional() }),
    ),
    egress: z.array(z.unknown()).optional(),
  }),
});

describe("the NetworkPolicies of the chart", () => {
  const names = ["mooring", "mooring-gateway", "mooring-tools"];

  it("are there by default for all three, and leave open the ways to the API server and the platform", async () => {
    const all = await rendered(...both);
    const ports = names.map((name) => {
      const { spec } = policy.parse(all.get(`NetworkPolicy/${name}`));
      expect(spec.policyTypes).toEqual(["Ingress"]);
      expect(spec.egress).toBeUndefined();
      return spec.ingress.flatMap((rule) => rule.ports.map(({ port }) => port));
    });
    expect(ports).toEqual([["metrics"], ["api", "metrics"], ["http"]]);
    // Only workloads of the cluster call these two.
    for (const name of names.slice(1))
      expect(policy.parse(all.get(`NetworkPolicy/${name}`)).spec.ingress[0]?.from).toEqual([{ namespaceSelector: {} }]);
    const alone = await rendered();
    expect([...alone.keys()].filter((key) => key.startsWith("NetworkPolicy/"))).toEqual(["NetworkPolicy/mooring"]);
  });

  it("name peers and ways out where these are given", async () => {
    const peers = [{ podSelector: { matchLabels: { app: "caller" } } }];
    const egress = [{ ports: [{ port: 443 }] }];
    const all = await rendered(
      ...both,
      `networkPolicy.gatewayFrom=${JSON.stringify(peers)}`,
      `networkPolicy.toolsFrom=${JSON.stringify(peers)}`,
      `networkPolicy.metricsFrom=${JSON.stringify(peers)}`,
      `networkPolicy.egress=${JSON.stringify(egress)}`,
    );
    for (const name of names) {
      const { spec } = policy.parse(all.get(`NetworkPolicy/${name}`));
      expect(spec.ingress.map(({ from }) => from)).toEqual(spec.ingress.map(() => peers));
      expect(spec).toMatchObject({ policyTypes: ["Ingress", "Egress"], egress });
    }
    const none = await rendered(...both, "networkPolicy.create=false");
    expect([...none.keys()].filter((key) => key.startsWith("NetworkPolicy/"))).toEqual([]);
  });
});
