import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { z } from "zod";
import { startCluster } from "../../src/cli/control-plane/start.ts";
import { writeOperatorKubeconfig } from "../../src/cli/demo/install.ts";
import { kinds } from "../../src/kinds/index.ts";
import { connect } from "../../src/kube/client/config.ts";
import { temporaryFolder } from "../../src/simulator/programs/swept.ts";
import { checkOut, lastLanded } from "../crash/former.ts";
import { atEnd } from "../ending.ts";
import { root, run, start } from "../processes.ts";
import { program } from "../run/program.ts";
import { schemaLocation, writeSchemas } from "./api-schemas.ts";
import { byName, chart, programPath } from "./chart/chart.ts";
import { sets, type ValueSet, valueSets } from "./chart/value-sets.ts";

const folder = temporaryFolder("helm");
const present = { chart, command: program(), first: [] as string[] };
/** The latest commit; the working tree itself if there is no Git history. */
const former = formerVersion();

function formerVersion(): typeof present {
  const revision = lastLanded();
  if (revision === undefined) return present;
  const { path, remove } = checkOut(revision);
  atEnd(remove);
  return { chart: join(path, "deploy/chart"), command: process.execPath, first: [join(path, "src/main.ts")] };
}
const programs = { helm: "", kubeconform: "", kubectl: "" };
let cluster: Awaited<ReturnType<typeof startCluster>>;

beforeAll(async () => {
  for (const name of ["helm", "kubeconform"] as const) {
    programs[name] = await programPath(name);
  }
  cluster = await startCluster({ controllerManager: true });
  programs.kubectl = join(cluster.assets, "kubectl");
});
afterAll(async () => {
  await cluster.stop();
  folder.remove();
});

/** Runs one of the programs against the cluster and expects success. */
async function works(program: keyof typeof programs, args: string[], input = ""): Promise<string> {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfig, HOME: folder.path };
  const { code, stdout, stderr } = await run(programs[program], args, { env, input });
  expect(code, `${program} ${args.join(" ")}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}
const helm = (...args: string[]) => works("helm", args);
const kubectl = (...args: string[]) => works("kubectl", args);

function valuesFile(name: ValueSet): string {
  const path = join(folder.path, `${name.replaceAll(" ", "-")}.yaml`);
  writeFileSync(path, stringify(valueSets[name]));
  return path;
}
const template = (name: ValueSet) => helm("template", "mooring", chart, "-n", "mooring-system", "-f", valuesFile(name));

describe("the chart", { timeout: 120_000 }, () => {
  it("passes helm lint, strictly", async () => {
    for (const name of sets) await helm("lint", chart, "--strict", "-f", valuesFile(name));
  });

  it("makes objects that the schemas of the API server accept", async () => {
    await kubectl("apply", "--server-side", "-f", join(root, "crds"));
    const schemas = join(folder.path, "schemas");
    const own = kinds.map(({ kind }) => kind);
    await writeSchemas(schemas, (path) => kubectl("get", "--raw", path), own);
    // Kinds of the Prometheus operator and cert-manager, which the cluster does not have.
    const flags = [
      "-strict",
      "-summary",
      "-output",
      "json",
      "-skip",
      "ServiceMonitor,PodMonitor,PrometheusRule,Certificate",
    ];
    for (const name of sets) {
      const manifest = await template(name);
      const answer = await works("kubeconform", [...flags, "-schema-location", schemaLocation(schemas)], manifest);
      const { summary } = z.object({ summary: z.record(z.string(), z.number()) }).parse(JSON.parse(answer));
      expect(summary).toMatchObject({ invalid: 0, errors: 0 });
      expect(summary.valid).toBeGreaterThan(4);
    }
    // The check itself must be able to fail.
    const broken = (await template("a platform")).replace("\n  replicas: 2\n", "\n  replica: 2\n");
    const { code } = await run(programs.kubeconform, [...flags, "-schema-location", schemaLocation(schemas)], {
      input: broken,
    });
    expect(code).toBe(1);
  });

  it("refuses a value that it does not know, and one of the wrong type, by name", async () => {
    const { code, stderr } = await run(programs.helm, [
      "template",
      chart,
      "--set",
      "replica=3",
      "--set",
      "workers=many",
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("'replica'");
    expect(stderr).toContain("/workers");
  });

  it("keeps the certificate that it has made for a server", async () => {
    const servers = "servers with certificates of an issuer";
    await kubectl("create", "namespace", "mooring-kept");
    const first = byName(await template(servers)).get("Secret/mooring-gateway-tls");
    // The state that the previous release leaves.
    const labels = { "app.kubernetes.io/managed-by": "Helm" };
    const annotations = {
      "meta.helm.sh/release-name": "mooring",
      "meta.helm.sh/release-namespace": "mooring-kept",
    };
    const metadata = { name: "mooring-gateway-tls", namespace: "mooring-kept", labels, annotations };
    const kept = { ...first, metadata };
    await works("kubectl", ["apply", "-f", "-"], stringify(kept));
    const render = ["template", "mooring", chart, "-n", "mooring-kept", "-f", valuesFile(servers)];
    // Without the other servers: the cluster has no cert-manager.
    const again = byName(
      await helm(...render, "--set", "tools.create=false,crds.install=false", "--dry-run=server"),
    ).get("Secret/mooring-gateway-tls");
    expect(again?.data === undefined).toBe(false);
    expect(isDeepStrictEqual(again?.data, first?.data)).toBe(true);
    await kubectl("delete", "namespace", "mooring-kept", "--wait=false");
  });

  it("is what deploy/kustomize holds for people without Helm; if not: make generate", async () => {
    const file = readFileSync(join(root, "deploy/kustomize/install.yaml"), "utf8");
    const rendered = await helm(
      "template",
      "mooring",
      chart,
      "-n",
      "mooring-system",
      "-f",
      join(chart, "install-values.yaml"),
    );
    expect(byName(file)).toEqual(byName(rendered));
    expect(byName(await kubectl("kustomize", join(root, "deploy/kustomize")))).toEqual(byName(rendered));
  });
});

describe("a release", { timeout: 300_000 }, () => {
  const namespaced = ["-n", "mooring-system"];

  it("of the version before is upgraded, makes the samples Ready with its own rights, and leaves them when it goes", async () => {
    const simulator = start(program(), ["simulator", "--json", "--kafka", "off", "--speed", "20"]);
    const { endpoints, token } = z
      .object({ endpoints: z.record(z.string(), z.string()), token: z.string() })
      .parse(JSON.parse(await simulator.line()));
    const values = join(folder.path, "release.yaml");
    writeFileSync(values, stringify({ endpoints, extraArgs: ["--annotate-after=1s"] }));
    const apply = async (...samples: string[]) => {
      for (const sample of samples) {
        const text = readFileSync(join(root, `deploy/samples/${sample}.yaml`), "utf8");
        await works("kubectl", ["apply", "-f", "-"], text.replace("paste-the-bearer-token-here", token));
      }
    };
    const idsOf = (plurals: string) =>
      kubectl("get", plurals, "-o", "jsonpath={range .items[*]}{.kind}/{.metadata.name} {.status.id}{'\\n'}{end}");
    const ready = (plurals: string) => kubectl("wait", plurals, "--all", "--for=condition=Ready", "--timeout=120s");

    // kubectl has already installed the CRDs of this version. Helm takes ownership of them with a flag.
    const flags = ["--create-namespace", "--take-ownership", "--force-conflicts", "-f", values];
    const output = await helm("install", "mooring", former.chart, ...namespaced, ...flags);
    expect(output).toContain("kubectl -n default get accounts");
    const first = await startAsDeployed(former);
    await apply("landscape");
    const landscape = "accounts,datacenters,lans,servers";
    await ready(landscape);
    const made = await idsOf(landscape);
    expect(await first.stop()).toBe(0);

    await helm("upgrade", "mooring", chart, ...namespaced, "-f", values, "--set", "workers=16");
    expect(await deployedArguments()).toContain("--workers=16");
    const operator = await startAsDeployed(present);
    await apply("metricpipeline", "logpipeline", "centrallogging");
    const all = kinds
      .filter(({ scope }) => scope !== "Cluster")
      .map(({ plural }) => plural)
      .join(",");
    await ready(all);
    expect(await idsOf(landscape)).toBe(made);

    expect(await operator.stop()).toBe(0);
    const before = await idsOf(all);
    expect(before.split("\n").length).toBeGreaterThan(5);
    await helm("uninstall", "mooring", ...namespaced, "--wait");
    expect(await idsOf(all)).toBe(before);
    const left = await kubectl(
      "get",
      "clusterroles,clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings",
      "-o",
      "name",
    );
    expect(left.split("\n").filter((line) => line.includes("mooring"))).toEqual([]);
    const inNamespace = await kubectl(
      ...namespaced,
      "get",
      "deployments,services,configmaps,secrets,serviceaccounts,roles,rolebindings,poddisruptionbudgets,leases",
      "-o",
      "name",
    );
    // Kubernetes creates these in every namespace. The next operator takes over the Lease, and the signing key must
    // stay.
    expect(
      inNamespace
        .split("\n")
        .filter((line) => line.includes("mooring"))
        .sort(),
    ).toEqual(["lease.coordination.k8s.io/mooring", "secret/mooring-signing-key"]);
    await simulator.stop();
  });

  const deployment = z.object({
    spec: z.object({
      template: z.object({ spec: z.object({ containers: z.tuple([z.object({ args: z.array(z.string()) })]) }) }),
    }),
  });
  const deployedArguments = async () => {
    const answer = await kubectl(...namespaced, "get", "deployment", "mooring", "-o", "json");
    return deployment.parse(JSON.parse(answer)).spec.template.spec.containers[0].args;
  };

  /** Runs the command of the Deployment's container as its ServiceAccount, because there is no node. */
  async function startAsDeployed({ command, first }: typeof present) {
    const args = (await deployedArguments()).map((each) => each.replace("0.0.0.0:8080", "127.0.0.1:0"));
    const client = await connect({ kubeconfig: cluster.kubeconfig });
    const kubeconfig = join(folder.path, "operator.kubeconfig");
    await writeOperatorKubeconfig(client, cluster.kubeconfig, kubeconfig);
    await client.close();
    const running = start(command, [...first, ...args, "--json", "--kubeconfig", kubeconfig]);
    await running.line();
    return running;
  }
});
