import { z } from "zod";
import type { Inputs, OneTimeKey, Rotation } from "../../desired.ts";
import type { Column } from "../../kind.ts";
import { duration, secondsOf } from "../duration.ts";
import { formed, objectName } from "../fields.ts";

/** Fields of every kind with a key for workloads. */
export const keyFields = {
  secretName: objectName()
    .optional()
    .describe(
      "Name of the Secret for workloads. Default: <name>-<kind>, for example web-metricpipeline. Changing it later creates a new key.",
    ),
  keyRotation: z
    .object({
      every: duration("1h").describe("Maximum age of a key, at least one hour."),
      at: formed(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 5, "must be a time of day in UTC, for example 03:00")
        .optional()
        .describe("Time of day in UTC at which a due key is rotated. Default: immediately."),
    })
    .optional()
    .describe("Rotates the key automatically. The old key stops working immediately. Default: never."),
};
const fields = z.object(keyFields);
type KeySpec = z.output<typeof fields>;

/** The longest name of an object in Kubernetes. */
const LONGEST_NAME = 253;

export const secretNameOf = (
  { secretName }: Pick<KeySpec, "secretName">,
  { name }: Pick<Inputs, "name">,
  kind: string,
): string => secretName ?? defaultName(name, `-${kind.toLowerCase()}`);

/** A name that leaves no room for the suffix is cut. Of two objects with equal Secrets, the second one says so. */
function defaultName(name: string, suffix: string): string {
  if (name.length + suffix.length <= LONGEST_NAME) return name + suffix;
  return name.slice(0, LONGEST_NAME - suffix.length).replace(/[-.]+$/, "") + suffix;
}

export const rotationOf = ({ keyRotation }: KeySpec): Rotation | undefined =>
  keyRotation && { everySeconds: secondsOf(keyRotation.every) ?? 0, ...(keyRotation.at && { at: keyRotation.at }) };

const answer = z.looseObject({ key: z.string().min(1) });

export const pipelineColumns: Column[] = [
  { name: "Secret", type: "string", path: ".status.secretName", description: "Secret for workloads" },
  { name: "Key", type: "integer", path: ".status.key.version", description: "Version of the key", wide: true },
  { name: "Grafana", type: "string", path: ".status.grafanaEndpoint", description: "URL of the dashboard", wide: true },
];

/** The key of a pipeline. The answer to a creation differs between pipelines; the renewal is the same. */
export const pipelineKey = (created: OneTimeKey["created"]): OneTimeKey => ({
  name: "key",
  created,
  renewal: (id) => ({
    action: "make a new key",
    method: "POST",
    path: `/pipelines/${encodeURIComponent(id)}/key`,
    body: {},
  }),
  renewed: (reply) => answer.safeParse(reply).data?.key,
});
