import { z } from "zod";
import { checkedProperties, objectIn } from "../core/kind/body.ts";
import type { Call, Forms } from "../http/exchange.ts";
import { invalid } from "../http/refusal.ts";
import type { Pipeline, Stream } from "../records/pipelines.ts";

/** The properties of a pipeline that a caller sets. */
export type Given = Pick<Pipeline, "name" | "logs" | "resourceTier">;

const nameRule = "must have 1 to 20 characters";
const nameSchema = z.string().min(1, nameRule).max(20, nameRule);

const days = [0, 7, 14, 30] as const;
/** `unlimited` is stored as 0. */
const retentionSchema = z
  .union([z.literal(days), z.literal("unlimited")], { error: "must be 7, 14, 30 or unlimited" })
  .transform((given) => (given === "unlimited" ? 0 : given));

/**
 * The retention is a field of the stream (described form), of its only destination (public form), or absent. A form
 * that is not served is ignored.
 */
const streamSchema = (forms: Forms) =>
  z
    .object({
      source: z.enum(["kubernetes", "docker", "systemd", "generic", "http"], {
        error: "must be kubernetes, docker, systemd or generic",
      }),
      tag: z.string().regex(/^[A-Za-z0-9]{3,20}$/, "must have 3 to 20 characters, letters and digits only"),
      protocol: z.enum(["http", "tcp"], { error: "must be http or tcp" }).nullish(),
      labels: z.array(z.string()).nullish(),
      retentionInDays: retentionSchema.nullish(),
      destinations: z
        .array(
          z.object({
            type: z.literal("loki", { error: "must be loki" }).nullish(),
            retentionInDays: retentionSchema.nullish(),
          }),
        )
        .max(1, "must name one destination at most")
        .nullish(),
    })
    .transform(({ source, tag, protocol, labels, retentionInDays, destinations }, context): Stream => {
      const fault = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
      const overHttp = source === "http";
      if (overHttp && protocol === "tcp") fault("protocol", "must be http for the source http");
      if (!overHttp && (protocol ?? undefined) === undefined) fault("protocol", "must be http or tcp");
      const ofDestination = forms.public ? (destinations?.[0]?.retentionInDays ?? undefined) : undefined;
      const ofStream = forms.described ? (retentionInDays ?? undefined) : undefined;
      if (ofStream !== undefined && ofDestination !== undefined && ofStream !== ofDestination) {
        fault("retentionInDays", "must be the same as in destinations, or be left out in one of them");
      }
      return {
        source: overHttp ? "generic" : source,
        tag,
        protocol: protocol ?? "http",
        retentionInDays: ofStream ?? ofDestination ?? 30,
        labels: labels ?? [],
      };
    });

const logsRule = "must have 1 to 5 log streams";
const logsSchema = (forms: Forms) =>
  z
    .array(streamSchema(forms))
    .min(1, logsRule)
    .max(5, logsRule)
    .superRefine((logs, context) => {
      for (const [index, { tag }] of logs.entries()) {
        if (logs.findIndex((each) => each.tag === tag) === index) continue;
        context.addIssue({ code: "custom", path: [index, "tag"], message: "must be unique inside the pipeline" });
      }
    });

const metricShape = z.object({ name: nameSchema });
const logShape = (forms: Forms) =>
  z.object({ name: nameSchema, logs: logsSchema(forms), resourceTier: z.string().nullish() });
const logChangeShape = (forms: Forms) =>
  z.object({
    name: nameSchema.nullish(),
    logs: logsSchema(forms).nullish(),
    resourceTier: z.string().nullish(),
  });

/** The body of a PUT may repeat the id of the path. */
export function givenMetricPipeline({ body, method, params: { pipelineId } }: Call): Given {
  const given = checkedProperties(metricShape, body);
  const { id = pipelineId } = objectIn(body);
  if (method === "PUT" && id !== pipelineId) throw invalid("(root).id", "must be the id of the path, or be left out");
  return { ...given, logs: [], resourceTier: null };
}

export function givenLogPipeline(body: string, forms: Forms): Given {
  const { resourceTier, ...given } = checkedProperties(logShape(forms), body);
  return { ...given, resourceTier: resourceTier ?? null };
}

/** A property that a PATCH leaves out, or sets to null, stays. */
export function changedLogPipeline(body: string, { name, logs, resourceTier }: Given, forms: Forms): Given {
  const given = checkedProperties(logChangeShape(forms), body);
  return {
    name: given.name ?? name,
    logs: given.logs ?? logs,
    resourceTier: given.resourceTier ?? resourceTier,
  };
}

const switchShape = z.object({ enabled: z.boolean({ error: "must be true or false" }) });

export const givenSwitch = (body: string): boolean => checkedProperties(switchShape, body).enabled;
