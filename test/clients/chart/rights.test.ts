import { beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { gatewayRights } from "../../../src/cli/manifests/gateway-rights.ts";
import { rights } from "../../../src/cli/manifests/manifests.ts";
import { gatewayPolicy } from "../../../src/cli/manifests/policy.ts";
import { toolsRights } from "../../../src/cli/manifests/tools-rights.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { byName, findHelm, manifestWith, nameOf, object, objectsIn } from "./chart.ts";
import { valueSets } from "./value-sets.ts";

beforeAll(findHelm, 300_000);

describe("the chart", () => {
  it("gives the gateway its part of the rate, the address of the platform, and rights to no Secret", async () => {
    const rendered = byName(await manifestWith(valueSets.everything));
    const deployment = JSON.stringify(rendered.get("Deployment/mooring-gateway"));
    for (const flag of ["--rate=1.667", "--burst=3", "--account=shared", "--tls-cert-file=/etc/mooring-tls/tls.crt"]) {
      expect(deployment).toContain(`"${flag}"`);
    }
    expect(deployment).toContain("--upstream=http://mooring-simulator.mooring-system:8080/inference");
    const installed = { namespace: "mooring-system", account: "mooring-gateway", name: "mooring-gateway" };
    const rights = [...gatewayRights(installed), ...gatewayPolicy(installed)];
    for (const each of rights.map((one) => object.parse(one))) expect(rendered.get(nameOf(each))).toEqual(each);
    expect(JSON.stringify(rights)).not.toContain("secrets");
    expect(byName(await manifestWith(valueSets["a platform"])).has("Deployment/mooring-gateway")).toBe(false);
  });

  it("gives the tool server rights to read, and to no Secret", async () => {
    const rendered = byName(await manifestWith(valueSets.everything));
    const deployment = JSON.stringify(rendered.get("Deployment/mooring-tools"));
    for (const flag of [
      "--load-mode=lazy",
      "--allow-host=tools.example.com",
      "--allow-host=mooring-tools.mooring-system",
    ]) {
      expect(deployment).toContain(`"${flag}"`);
    }
    const name = { namespace: "mooring-system", account: "mooring-tools", name: "mooring-tools" };
    const rights = toolsRights(kinds, name);
    for (const each of rights.map((one) => object.parse(one))) expect(rendered.get(nameOf(each))).toEqual(each);
    expect(JSON.stringify(rights)).not.toMatch(/secrets|create|update|patch|delete|\*/);
    expect(byName(await manifestWith(valueSets["a platform"])).has("Deployment/mooring-tools")).toBe(false);
  });

  it("gives the operator the rights that the source says", async () => {
    const rendered = byName(await manifestWith(valueSets["a platform"]));
    for (const each of rights(kinds).map((one) => object.parse(one))) {
      // Other tests render these values.
      if (each.kind === "Namespace" || each.kind === "ServiceAccount") continue;
      expect(rendered.get(nameOf(each)), nameOf(each)).toEqual(each);
    }
    const roles = objectsIn(await manifestWith(valueSets["one namespace"])).filter(({ kind }) => /Role/.test(kind));
    const wanted = rights(kinds, { watched: ["shop"] }).map((one) => object.parse(one));
    const inOrder = (all: z.output<typeof object>[]) => all.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    expect(inOrder(roles)).toEqual(inOrder(wanted.filter(({ kind }) => /Role/.test(kind))));
    expect(roles.map(({ kind }) => kind)).not.toContain("ClusterRole");
  });
});
