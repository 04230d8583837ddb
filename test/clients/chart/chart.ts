import { join } from "node:path";
import { expect } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { z } from "zod";
import { root, run } from "../../processes.ts";

/** The folder of the chart. */
export const chart = join(root, "deploy/chart");

/** The path of a program, which is built if it is not there yet. */
export const programPath = async (program: "helm" | "kubeconform") =>
  (await run(join(root, "test/clients/setup-helm"), [program])).stdout.trim();

let helm: string;
export async function findHelm(): Promise<void> {
  helm = await programPath("helm");
}

export const object = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) });
export const objectsIn = (text: string) =>
  parseAllDocuments(text).flatMap((each) => object.nullable().parse(each.toJS()) ?? []);
export const nameOf = ({ kind, metadata }: z.output<typeof object>) => `${kind}/${metadata.name}`;
/** The objects of a manifest, by kind and name. */
export const byName = (text: string) => new Map(objectsIn(text).map((each) => [nameOf(each), each]));

const templating = ["template", "mooring", chart, "-n", "mooring-system"];

/** The chart with single values, each as `path=JSON`. */
export const template = (...values: string[]) =>
  run(helm, [...templating, ...values.flatMap((value) => ["--set-json", value])]);

/** The objects of the chart for a platform and with single values, by kind and name. */
export async function rendered(...values: string[]) {
  const { code, stdout, stderr } = await template('platform="ionos"', ...values);
  expect(code, stderr).toBe(0);
  // No warnings: nobody reads a warning that appears on every use.
  expect(stderr).toBe("");
  return byName(stdout);
}

/** The manifest of the chart with the values of a file. */
export async function manifestWith(values: object): Promise<string> {
  const { code, stdout, stderr } = await run(helm, [...templating, "-f", "-"], { input: stringify(values) });
  expect(code, stderr).toBe(0);
  return stdout;
}

/** Values for the gateway and the tools. */
export const both = [
  "gateway.create=true",
  "tools.create=true",
  'endpoints={"inference":"https://inference.example.com"}',
];

const container = z.looseObject({
  args: z.array(z.string()),
  readinessProbe: z.looseObject({
    httpGet: z.looseObject({ port: z.string(), scheme: z.string().optional() }),
  }),
});
export const deployment = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({ containers: z.tuple([container]), volumes: z.array(z.looseObject({})) }),
    }),
  }),
});
