import { z } from "zod";
import { formed, noDotFolders } from "../fields.ts";

/** The fields of a flow log, for every schema with flow logs. */
export const flowLogFields = {
  action: z.enum(["Accepted", "Rejected", "Any"]).describe("Traffic to record."),
  direction: z.enum(["Ingress", "Egress", "Bidirectional"]).describe("Direction of the traffic."),
  bucket: formed(
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[^\s\p{Cc}\p{Zl}\p{Zp}]+)?$/u,
    512,
    "must be the name of a bucket, optionally with a prefix: my-bucket/flow",
    noDotFolders,
  ).describe("Bucket for the records, optionally with a prefix after a slash. It must exist."),
};
const fields = z.object(flowLogFields).partial();

const ACTIONS = { Accepted: "ACCEPTED", Rejected: "REJECTED", Any: "ALL" } as const;

/** A flow log as the platform expects it. */
export const flowLogProperties = ({ action, direction, bucket }: z.output<typeof fields>) => ({
  action: action && ACTIONS[action],
  direction: direction?.toUpperCase(),
  bucket,
});

type Text = string | null | undefined;

/** The platform's words as spec has them; a word that spec does not know as it is. */
export const flowLogWords = ({ action, direction }: { action?: Text; direction?: Text }) => ({
  action: Object.entries(ACTIONS).find(([, word]) => word === action)?.[0] ?? action,
  direction: flowLogFields.direction.options.find((each) => each.toUpperCase() === direction) ?? direction,
});
