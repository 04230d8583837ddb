import { z } from "zod";
import type { ObjectRef, Reference } from "../desired.ts";
import { formed, managed, objectName, objectRef } from "../fields/fields.ts";
import type { Kind } from "../kind.ts";

const bucket = z.object({
  name: formed(
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    63,
    "must be the name of a bucket: 3 to 63 lower-case letters, digits, '-' and '.'",
  ).describe("Name of the bucket."),
  endpoint: formed(
    /^https?:\/\/[^\s\p{Cc}\p{Z}/?#{}@]+\/?$/u,
    2048,
    "must be an http or https URL without user and path, for example https://s3.eu-central-3.example.com",
  )
    .optional()
    .describe(
      "URL of the object storage. The operator must allow it (--allow-endpoint). Default: the object storage of the Account.",
    ),
  region: formed(/^[a-z0-9-]+$/, 63, "must be a region, for example eu-central-3")
    .optional()
    .describe("Region that requests are signed for. Default: the region in the host name of the endpoint."),
  prefix: formed(
    /^([\w=-][\w.=-]*\/)*([\w=-][\w.=-]*)?$/,
    512,
    "must be a path such as audit/shop/: letters, digits, '-', '_', '.' and '=', no empty folder, and no name that begins with a dot",
  )
    .optional()
    .describe("Prepended to the names of the objects, for example audit/. Default: none."),
  secretRef: z
    .object({ name: objectName().describe("Name of the Secret, in the same namespace.") })
    .describe("Secret with the keys accessKey and secretKey of the object storage."),
});

const destination = z
  .object({
    bucket: bucket.optional().describe("Bucket that gets NDJSON files, compressed with gzip, in a folder per hour."),
    logPipelineRef: objectRef("LogPipeline")
      .optional()
      .describe("LogPipeline that gets the entries, at its first log with protocol http."),
    kafkaTopicRef: objectRef("KafkaTopic").optional().describe("KafkaTopic that gets one record per entry."),
    kafkaUserRef: objectRef("KafkaUser")
      .optional()
      .describe("KafkaUser whose certificate is used. Required with kafkaTopicRef."),
  })
  .meta({
    "x-kubernetes-validations": [
      {
        rule: "[has(self.bucket), has(self.logPipelineRef), has(self.kafkaTopicRef)].filter(each, each).size() == 1",
        message: "exactly one of bucket, logPipelineRef and kafkaTopicRef is required",
      },
      {
        rule: "has(self.kafkaTopicRef) == has(self.kafkaUserRef)",
        message: "kafkaTopicRef and kafkaUserRef belong together: set both or neither",
      },
    ],
  });

const spec = z.object({
  accountRef: managed.accountRef,
  destination: destination.describe("Destination of the entries. If it changes, later entries go to the new one."),
  reads: z
    .enum(["Include", "Exclude"])
    .default("Include")
    .describe("Include exports every entry; Exclude leaves out read accesses, which are the majority."),
  from: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      "Time of the first entry to export, for example 2026-03-01T00:00:00Z; the platform keeps 35 days. Default: the creation of this object.",
    ),
});

const moment = (text: string) => z.iso.datetime({ precision: 3 }).describe(text);

const watermark = z.object({
  time: moment("All entries before this time are delivered."),
  hours: z
    .object({ from: moment("Start of that period."), to: moment("End of that period.") })
    .optional()
    .describe("Period that is read by the hour; the rest is read by the minute."),
  recent: z
    .array(
      z.object({
        from: moment("Start of the minute."),
        total: z.int().describe("Number of its entries."),
        sketch: z.string().describe("Short form of the set of entries."),
      }),
    )
    .meta({ "x-kubernetes-list-type": "atomic" })
    .optional()
    .describe("Delivered minutes that are checked for late entries."),
});

/** The batch in delivery. After a crash, the same entries are delivered again. */
const begun = z.object({
  from: moment("Start of the period of its entries."),
  to: moment("End of the period of its entries."),
  at: moment("When it was read, by the platform's clock."),
  total: z.int().describe("Number of entries in the log for that period."),
  entries: z.int().describe("Number of entries that are delivered."),
  hash: z.string().describe("Hash of these entries."),
  sketch: z.string().describe("Short form of the set of entries."),
});

const status = z.object({
  watermark: watermark.optional().describe("Progress of the export."),
  begun: begun.optional().describe("Entries that are being delivered."),
  lastEntryTime: moment("Time of the last entry that was delivered.").optional(),
  entriesDelivered: z.int().optional().describe("Number of entries that were delivered."),
  lost: z
    .object({
      from: moment("Start of the gap."),
      to: moment("End of the gap."),
      noticedAt: moment("When the gap was noticed."),
    })
    .optional()
    .describe("Entries that the platform had deleted before they were exported."),
});

export const activityLogExport: Kind = {
  kind: "ActivityLogExport",
  plural: "activitylogexports",
  governs: true,
  shortNames: ["ale"],
  limit: 20,
  description: "Copies the activity log of a contract to a bucket, a LogPipeline or a KafkaTopic.",
  spec,
  status,
  rules: [],
  immutable: {
    from: "a started export continues from its last position",
    reads: "a started export keeps its selection of entries",
  },
  columns: [
    { name: "Entries", type: "integer", path: ".status.entriesDelivered", description: "Entries that were delivered" },
    {
      name: "Delivered-Until",
      type: "string",
      path: ".status.watermark.time",
      description: "All entries before this time are delivered",
    },
    {
      name: "Last-Entry",
      type: "string",
      path: ".status.lastEntryTime",
      description: "Time of the last entry",
      wide: true,
    },
  ],
  // The log contains the actions of all users of the contract.
  task: {
    contractWide: "ActivityLogExport",
    begun: "watermark",
    hosts: ["objectStorage"],
    references: (raw) => referencesOf(spec.parse(raw)),
  },
};

export type ActivityLogExportSpec = z.output<typeof spec>;
export const readExportSpec = (raw: unknown): ActivityLogExportSpec => spec.parse(raw);
/** The recorded progress; empty if there is none. */
export const readExportStatus = (raw: unknown): z.output<typeof status> => status.safeParse(raw).data ?? {};

function referencesOf({ destination }: ActivityLogExportSpec): Reference[] {
  const { logPipelineRef, kafkaTopicRef, kafkaUserRef } = destination;
  const reference = (field: string, kind: string, target: ObjectRef | undefined): Reference[] =>
    target ? [{ role: kind, kind, field: `destination.${field}`, target, bond: "use" }] : [];
  return [
    ...reference("logPipelineRef", "LogPipeline", logPipelineRef),
    ...reference("kafkaTopicRef", "KafkaTopic", kafkaTopicRef),
    ...reference("kafkaUserRef", "KafkaUser", kafkaUserRef),
  ];
}
