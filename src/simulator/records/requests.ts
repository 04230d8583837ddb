import { z } from "zod";

/** The change of a resource when its request ends. Stored, so that a restart in between changes nothing. */
const outcomeSchema = z.discriminatedUnion("op", [
  /** Idle again, with some properties changed. */
  z.object({ op: z.literal("settle"), key: z.string(), merge: z.record(z.string(), z.unknown()).optional() }),
  /** Idle again, with exactly these properties and references. */
  z.object({
    op: z.literal("become"),
    key: z.string(),
    properties: z.record(z.string(), z.unknown()).readonly(),
    refs: z.array(z.string()).readonly(),
  }),
  z.object({ op: z.literal("remove"), key: z.string() }),
  /** Removed unless something refers to it by then. */
  z.object({ op: z.literal("remove-unused"), key: z.string() }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;

export const requestSchema = z.object({
  id: z.string(),
  status: z.enum(["BUSY", "DONE", "FAILED"]),
  message: z.string(),
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  createdAt: z.number(),
  createdBy: z.string(),
  dueAt: z.number(),
  /** The first is the resource that the call was about. */
  targets: z.array(z.object({ key: z.string(), id: z.string(), type: z.string() })),
  /** Set when the request is going to fail: why. */
  failure: z.string().nullable(),
  /** Dropped when the request has ended. */
  onDone: z.array(outcomeSchema),
  onFailed: z.array(outcomeSchema),
});

/** An asynchronous write and its progress. */
export type RequestRecord = Readonly<z.infer<typeof requestSchema>>;
