import { z } from "zod";
import type { Operation } from "../desired.ts";
import { differences, known } from "../fields/compare.ts";
import { managed, managedRules, required, wireId } from "../fields/fields.ts";
import { type Kind, mapping } from "../kind.ts";

const spec = z.object({
  ...managed,
  externalId: managed.externalId.describe("Id of the switch, which needs none: there is one per contract and region."),
  enabled: z.boolean().optional().describe("Products forward their logs if true. Required."),
});

const status = z.object({
  enabled: z.boolean().optional().describe("True if it is on."),
  before: z.boolean().optional().describe("State before this object was created; deletion restores it."),
  grafanaEndpoint: z.string().optional().describe("URL of the dashboard."),
});

const wire = z.looseObject({
  id: wireId(),
  metadata: z.looseObject({ grafanaEndpoint: z.string().nullish() }).nullish(),
  properties: z.looseObject({ enabled: z.boolean().nullish() }),
});

const collection = "/central";
/** The id for the resource on platforms that give it none. */
const ONLY = "central";

const switchTo = (id: string, enabled: boolean): Operation => ({
  action: enabled ? "switch it on" : "switch it off",
  method: "PUT",
  path: id === ONLY ? collection : `${collection}/${encodeURIComponent(id)}`,
  body: { properties: { enabled } },
});

export const centralLogging: Kind = {
  kind: "CentralLogging",
  plural: "centralloggings",
  shortNames: ["cl"],
  description: "The switch of a contract, per region, that lets integrated products forward their logs.",
  spec,
  status,
  rules: [...managedRules, required("enabled")],
  immutable: {},
  columns: [{ name: "Enabled", type: "boolean", path: ".status.enabled", description: "True if it is on" }],
  resource: mapping(spec, {
    names: { type: "central" },
    identity: { permanent: true, contractWide: "CentralLogging", onePer: "Account and region" },
    place: {
      product: "logging",
      collection: () => collection,
      depth: 0,
      privilege: "Access and manage Logging Service",
      references: () => [],
    },
    creation: { body: () => ({}) },
    comparison: {
      compare(spec, item) {
        const { id, properties } = wire.parse(item);
        const drift = differences({ enabled: [spec.enabled, properties.enabled ?? false] });
        return drift.length === 0 || spec.enabled === undefined
          ? { drift }
          : { drift, next: switchTo(id, spec.enabled) };
      },
      facts(item, { shown }) {
        const { metadata, properties } = wire.parse(item);
        const enabled = properties.enabled ?? false;
        const before = typeof shown.before === "boolean" ? shown.before : enabled;
        return known({ enabled, before, grafanaEndpoint: metadata?.grafanaEndpoint });
      },
    },
    destruction: {
      holdsData: false,
      preDelete(_spec, item, { shown }) {
        const { id, properties } = wire.parse(item);
        const before = shown.before;
        return typeof before === "boolean" && before !== (properties.enabled ?? false)
          ? switchTo(id, before)
          : undefined;
      },
    },
  }),
};
