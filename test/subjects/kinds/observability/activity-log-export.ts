import { bad, good } from "../../manifests.ts";
import type { Subject } from "../../subject.ts";
import { account, EXPORTED, manifest } from "../../surroundings.ts";

const spec = {
  destination: {
    bucket: { name: "audit", endpoint: "https://s3.example.com", prefix: "log/", secretRef: { name: "s3" } },
  },
};
const base = { kind: "ActivityLogExport", spec };

const pipeline = (name: string) =>
  manifest("LogPipeline", name, { logs: [{ source: "generic", tag: EXPORTED, protocol: "http" }] });
/** How many reads there are, the operator's own among them, nobody knows. */
const to = (name: string) => ({ destination: { logPipelineRef: { name } }, reads: "Exclude" });

export const subject: Subject = {
  ...base,
  life: (ground) => ({
    prerequisites: [account(ground), pipeline("first"), pipeline("second")],
    spec: to("first"),
    changes: [
      // Two pipelines, accepted and provisioned.
      { title: "update", spec: to("second"), afterSeconds: 180, says: { entriesDelivered: 4 } },
    ],
  }),
  manifests: {
    accepted: [
      ...good(base, "ActivityLogExport", [
        ["to a bucket", {}],
        ["to a bucket of the Account", { destination: { bucket: { endpoint: null, prefix: null } } }],
        ["with everything", { from: "2026-03-01T00:00:00Z", destination: { bucket: { region: "eu-central-3" } } }],
        ["to a LogPipeline", { destination: { bucket: null, logPipelineRef: { name: "logs", namespace: "other" } } }],
        [
          "to a KafkaTopic",
          { destination: { bucket: null, kafkaTopicRef: { name: "audit" }, kafkaUserRef: { name: "admin" } } },
        ],
      ]),
    ],
    refused: [
      ...bad(base, "ActivityLogExport", [
        ["without a destination", { destination: null }, "spec.destination", "Required value"],
        ["to nothing", { destination: { bucket: null } }, "exactly one of bucket, logPipelineRef and kafkaTopicRef"],
        [
          "to two destinations",
          { destination: { logPipelineRef: { name: "logs" } } },
          "exactly one of bucket, logPipelineRef and kafkaTopicRef",
        ],
        [
          "to a topic without a user",
          { destination: { bucket: null, kafkaTopicRef: { name: "audit" } } },
          "kafkaTopicRef and kafkaUserRef belong together",
        ],
        ["with a user of nothing", { destination: { kafkaUserRef: { name: "u" } } }, "kafkaUserRef belong together"],
        ["to a bucket in upper case", { destination: { bucket: { name: "Audit" } } }, "must be the name of a bucket"],
        ["without keys", { destination: { bucket: { secretRef: null } } }, "bucket.secretRef", "Required value"],
        ["to a path", { destination: { bucket: { endpoint: "https://s3.example.com/x" } } }, "without user and path"],
        [
          "with a prefix that climbs",
          { destination: { bucket: { prefix: "a/../b" } } },
          "no name that begins with a dot",
        ],
        ["with a prefix from the root", { destination: { bucket: { prefix: "/a" } } }, "no empty folder"],
        ["from a day", { from: "2026-03-01" }, "spec.from"],
        [
          "to a Secret of another namespace",
          { destination: { bucket: { secretRef: { namespace: "x" } } } },
          "unknown field",
        ],
      ]),
    ],
    changes: {
      refused: [
        ...bad(base, "ActivityLogExport", [
          [
            "another beginning",
            { from: "2026-03-01T00:00:00Z" },
            "from cannot be changed: a started export continues from its last position; create another ActivityLogExport",
          ],
          [
            "other entries",
            { reads: "Exclude" },
            "reads cannot be changed: a started export keeps its selection of entries; create another ActivityLogExport",
          ],
          [
            "another Account",
            { accountRef: { name: "other" } },
            "accountRef cannot be changed: create another ActivityLogExport for the other Account",
          ],
        ]),
      ],
    },
  },
};
