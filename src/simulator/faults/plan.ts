import { parse as parseYaml } from "yaml";
import { z } from "zod";

const seconds = (what: string) => z.number().min(0).max(86_400).describe(what);

const fieldPath = z.string().regex(/^[^.]+(\.[^.]+)*$/, "must be the path of a field, such as properties.cores");

const route = z
  .string()
  .regex(/^(\*|GET|POST|PUT|PATCH|DELETE) [/*]\S*$/, 'must look like "POST /cloudapi/v6/datacenters"');

const when = {
  route: route.optional().describe("method and path template, with * for anything; absent: every call"),
  except: z.array(route).default([]).describe("routes of calls that the fault never happens to, in the same form"),
  probability: z.number().min(0).max(1).default(1),
  count: z.int().min(1).optional().describe("how many times the fault happens; absent: without end"),
  skip: z.int().min(0).default(0).describe("how many matching calls pass first"),
};

const fault = <Name extends string, Shape extends z.ZodRawShape>(name: Name, means: string, shape: Shape) =>
  z.strictObject({ fault: z.literal(name).describe(means), ...shape, ...when });

/** Every way a call can go wrong. Times of the transport are real seconds, those of the platform simulated ones. */
const ruleSchema = z.discriminatedUnion("fault", [
  fault("response-lost", "the call is executed, then the connection is closed", {}),
  fault("request-lost", "the connection is closed, nothing is executed", {}),
  fault("reset", "the connection is reset (TCP RST), nothing is executed", {}),
  fault("hang", "no answer comes", {
    seconds: seconds("real seconds until the connection is closed; absent: never").optional(),
    executed: z.boolean().default(false).describe("whether the call is executed before the silence"),
  }),
  fault("status", "an error answer, nothing is executed", {
    status: z.int().min(400).max(599),
    message: z.string().default("Injected by the fault plan"),
    retryAfter: z.int().min(0).nullable().default(null).describe("seconds of a Retry-After header; null: no header"),
  }),
  fault("404-everything", "a gateway answers 404 as if it knew no path, nothing is executed", {
    body: z
      .enum(["gateway", "platform"])
      .default("gateway")
      .describe("whose 404 it is; platform: with its own error payload, as for a wrong base path"),
  }),
  fault("slow", "the call is executed at once, its answer comes late", { seconds: seconds("real seconds") }),
  fault("held-connection", "the request is held before it is executed, whatever becomes of its connection meanwhile", {
    seconds: seconds("real seconds"),
    resetDrops: z
      .boolean()
      .default(false)
      .describe("whether a TCP reset by the caller drops the request; an orderly end (FIN) never does"),
  }),
  fault("late-visibility", "what the call creates cannot be seen for this long, even when its request is DONE", {
    seconds: seconds("simulated seconds"),
  }),
  fault("request-failed", "the call is accepted, its request ends FAILED", {
    message: z.string().default("[VDC-5-1000] The provisioning failed"),
  }),
  fault("slow-provisioning", "the request takes this many times as long", {
    factor: z.number().positive().max(10_000),
  }),
  fault("duplicate-delivery", "the write is executed twice, the first answer is sent", {}),
  fault("missing-item", "collections leave out what is younger than this", { seconds: seconds("simulated seconds") }),
  fault("empty-lists", "lists are answered 200 without items", {
    keep: z.int().min(0).default(0).describe("how many of the first items are shown"),
    single: z.boolean().default(false).describe("whether reads of single members are answered 404 as well"),
  }),
  fault(
    "hidden-while-deleting",
    "what a DELETE is about cannot be seen from then on, unless its request ends FAILED",
    {},
  ),
  fault("accepted-not-done", "a PATCH or PUT is accepted, its request ends DONE, and nothing has changed", {}),
  fault("altered-answer", "the call is executed, its answer shows something else", {
    id: z
      .string()
      .optional()
      .describe("only what has this id; absent: the resource of the answer, or each of its items"),
    set: z.record(fieldPath, z.json()).default({}).describe("values by the path of their field: properties.cores"),
    remove: z.array(fieldPath).default([]).describe("paths of fields that are left out: entities"),
  }),
  fault("stale", "a read is answered as things were this long ago; writes are not", {
    seconds: seconds("simulated seconds"),
  }),
  fault("shallow", "a read with depth 2 or more is answered as if it had asked for less", {
    leavesOut: z
      .enum(["entities", "properties"])
      .default("entities")
      .describe("all entities, or all but the references to them"),
  }),
  fault("token-revoked", "the bearer token of the call is revoked, the answer is 401", {}),
  fault("empty-content", "a model answers with 200 and nothing", {}),
  fault("slow-stream", "the events of a stream come slowly", { seconds: seconds("real seconds between two of them") }),
  fault("cut-stream", "the connection is closed in the middle of a stream", {
    after: z.int().min(0).describe("events that are sent before"),
  }),
  fault("date-header", "the Date header of the answer is off by this much, timestamps in its body are right", {
    seconds: z.number().min(-40_000_000).max(40_000_000),
  }),
  fault("clock-skew", "the Date header and all timestamps of the answer are off by this much", {
    seconds: z.number().min(-86_400).max(86_400),
  }),
]);

export type FaultRule = z.infer<typeof ruleSchema>;

const planSchema = z.strictObject({
  seed: z.int().optional().describe("seed of the probabilities; absent: the simulator's"),
  rules: z.array(ruleSchema).default([]),
  rateLimit: z
    .strictObject({ perSecond: z.number().positive(), burst: z.int().min(1) })
    .optional()
    .describe("calls per real second and credential; more are answered 429 with Retry-After"),
});

export type FaultPlan = z.infer<typeof planSchema>;

/** How far back stale reads of this plan can reach, in simulated milliseconds. */
export const reachOf = ({ rules }: FaultPlan): number =>
  rules.reduce((sum, rule) => sum + (rule.fault === "stale" ? rule.seconds * 1000 : 0), 0);

/** Reads a plan from YAML or JSON text; the error names every wrong field. */
export function parsePlan(text: string): FaultPlan {
  return checkPlan(parseYaml(text) ?? {});
}

/** The error names every wrong field by its path. */
export function checkPlan(value: unknown): FaultPlan {
  const parsed = planSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Error(
    parsed.error.issues.map((issue) => `${issue.path.map(String).join(".") || "(root)"}: ${issue.message}`).join("; "),
  );
}
