import { z } from "zod";
import type { Column, Inputs, OneTimeKey, Rotation } from "../kind.ts";
import { duration, secondsOf } from "./duration.ts";
import { formed, objectName } from "./fields.ts";

/** Fields of every kind whose resource has a key that workloads need. */
export const keyFields = {
  secretName: objectName()
    .optional()
    .describe(
      "Name of the Secret for workloads. Default: the object's name and its kind, for example web-metricpipeline. A later change of it makes a new key.",
    ),
  keyRotation: z
    .object({
      every: duration("1h").describe("How old a key may become before a new one is made, at least one hour."),
      at: formed(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, 5, "must be a time of the day in UTC, for example 03:00")
        .optional()
        .describe("Time of the day, in UTC, at which a new key that is due is made. Default: at once."),
    })
    .optional()
    .describe("Makes a new key by itself from time to time. The old one stops working at once. Default: never."),
};
const fields = z.object(keyFields);
type KeySpec = z.output<typeof fields>;

export const secretNameOf = (
  { secretName }: Pick<KeySpec, "secretName">,
  { name }: Pick<Inputs, "name">,
  kind: string,
): string => secretName ?? `${name}-${kind.toLowerCase()}`;

export const rotationOf = ({ keyRotation }: KeySpec): Rotation | undefined =>
  keyRotation && { everySeconds: secondsOf(keyRotation.every) ?? 0, ...(keyRotation.at && { at: keyRotation.at }) };

const answer = z.looseObject({ key: z.string().min(1) });

/** What `kubectl get` shows of a pipeline. */
export const pipelineColumns: Column[] = [
  { name: "Secret", type: "string", path: ".status.secretName", description: "Secret for workloads" },
  { name: "Key", type: "integer", path: ".status.key.version", description: "Which key it is", wide: true },
  { name: "Grafana", type: "string", path: ".status.grafanaEndpoint", description: "Where to look", wide: true },
];

/** The key of a pipeline: where its creation shows it differs, its renewal is the same for all. */
export const pipelineKey = (created: OneTimeKey["created"]): OneTimeKey => ({
  created,
  renewal: (id) => ({
    action: "make a new key",
    method: "POST",
    path: `/pipelines/${encodeURIComponent(id)}/key`,
    body: {},
  }),
  renewed: (reply) => answer.safeParse(reply).data?.key,
});
