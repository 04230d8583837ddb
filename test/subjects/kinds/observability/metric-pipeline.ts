import { bad, good, observed, otherId } from "../../manifests.ts";
import { badKeyed, deliver, goodKeyed, rotated, secretOf } from "../../pipeline.ts";
import type { Subject } from "../../subject.ts";

const base = { kind: "MetricPipeline", spec: {} };

export const subject: Subject = {
  ...base,
  prefix: "mp",
  wire: {
    collection: "metricPipelines",
    path: () => "/monitoring/de-txl/pipelines",
    body: (name) => ({ properties: { name } }),
  },
  change: (name) => ({ spec: { name: `${name}-again` }, shows: { name: `${name}-again` } }),
  life: ({ nth }) => {
    const renamed = { name: `renamed-${nth}` };
    return {
      changes: [{ title: "update", spec: renamed, shows: renamed }, rotated(renamed)],
      secrets: secretOf(({ endpoint, key }) => deliver(endpoint, key, "text/plain", "alive 1\n")),
    };
  },
  manifests: {
    accepted: [
      ...goodKeyed(base),
      ...good(base, "MetricPipeline", [
        ["only observed, by nothing but its id", observed],
        ["a push every five minutes", { pushInterval: "5m" }],
      ]),
    ],
    refused: [
      ...badKeyed(base),
      ...bad(base, "MetricPipeline", [
        ["a push every second", { pushInterval: "1s" }, "spec.pushInterval", "must be from 10s to 1h"],
        ["a push now and then", { pushInterval: "often" }, "spec.pushInterval", "must be a duration"],
      ]),
    ],
    changes: {
      accepted: [
        ...good(base, "MetricPipeline", [
          ["another name, Secret and rotation", { name: "b", secretName: "b", keyRotation: { every: "2h" } }],
        ]),
      ],
      refused: [
        ...bad(base, "MetricPipeline", [
          ["another Account", { accountRef: { name: "other" } }, "accountRef cannot be changed"],
          [
            "taken over later",
            { externalId: otherId },
            "externalId cannot be set or changed while the object has a resource",
          ],
        ]),
      ],
    },
  },
};
