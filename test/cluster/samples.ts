import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { root } from "../processes.ts";

const sample = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.unknown().optional(),
});

export type Sample = z.output<typeof sample>;

/** Products that the simulated platform serves below a path per region. */
const regional = ["monitoring", "logging", "streaming"];

/** The documents of a file of deploy/samples, with the addresses and the token of this platform. */
export async function samples(file: string, platform: { url: string; token: string }): Promise<Sample[]> {
  const text = await readFile(`${root}deploy/samples/${file}`, "utf8");
  const objects = parseAllDocuments(text).map((document) => sample.parse(document.toJS()));
  const { url } = platform;
  const endpoints = {
    api: url,
    inference: `${url}/inference`,
    ...Object.fromEntries(regional.map((name) => [name, `${url}/${name}/{region}`])),
  };
  return objects.map((object) => {
    const { kind, metadata, spec } = object;
    if (kind === "Secret" && metadata.name === "platform-token") {
      return { ...object, stringData: { token: platform.token } };
    }
    if (kind !== "Account") return object;
    return { ...object, spec: { ...z.looseObject({}).parse(spec), endpoints } };
  });
}
