import { describe, expect, it } from "vitest";
import { customResourceDefinition } from "../../src/cli/manifests/crd.ts";
import { kinds } from "../../src/kinds/index.ts";
import { schemaIn } from "../../src/plan/schema/objects.ts";
import { problems, withDefaults } from "../../src/plan/schema/validate.ts";
import { badAccounts } from "../cluster/manifests/bad-accounts.ts";
import { badChanges } from "../cluster/manifests/bad-changes.ts";
import { badDatacenters } from "../cluster/manifests/bad-datacenters.ts";
import { badKafka } from "../cluster/manifests/bad-kafka.ts";
import { badNetworks } from "../cluster/manifests/bad-networks.ts";
import { badPipelineChanges, badPipelines } from "../cluster/manifests/bad-pipelines.ts";
import { badScalingGroups } from "../cluster/manifests/bad-scaling-groups.ts";
import { badServerParts } from "../cluster/manifests/bad-server-parts.ts";
import { badServers } from "../cluster/manifests/bad-servers.ts";
import { badVolumes } from "../cluster/manifests/bad-volumes.ts";
import { type Base, manifest } from "../cluster/manifests/base.ts";
import { fixedFields } from "../cluster/manifests/fixed-fields.ts";
import { good, goodChanges } from "../cluster/manifests/good.ts";
import { goodKafka, goodKafkaChanges } from "../cluster/manifests/good-kafka.ts";
import { goodPipelineChanges, goodPipelines } from "../cluster/manifests/good-pipelines.ts";
import { goodResourceChanges, goodResources } from "../cluster/manifests/good-resources.ts";
import { kafkaFixedFields } from "../cluster/manifests/kafka-fixed-fields.ts";

const schemas = new Map(kinds.map((kind) => [kind.kind, schemaIn(customResourceDefinition(kind))]));

interface Row {
  base: Base;
  name?: unknown;
  patch?: unknown;
}

/** The status of an object whose resource exists: from then on some fields are fixed. */
const made = (kind: string): object =>
  kind === "ActivityLogExport"
    ? { watermark: { time: "2026-03-01T00:00:00.000Z" } }
    : kinds.find((each) => each.kind === kind)?.resource
      ? { id: "7ce5e062-034e-4dbc-9ed9-4be5174e1523" }
      : {};

/** What is said about an object, or about its change from its base. */
function refusals({ base, patch, name }: Row, changed = false): string[] {
  const schema = schemas.get(base.kind);
  const stored = (change: unknown) => {
    const object = withDefaults(schema, manifest(base, "here", String(name ?? "some-name"), change));
    return changed ? { ...Object(object), status: { ...Object(object).status, ...made(base.kind) } } : object;
  };
  return problems(schema, stored(patch), changed ? stored({}) : undefined);
}

const rows = [
  ...[badAccounts, badDatacenters, badServers, badServerParts, badNetworks, badVolumes].flat(),
  ...[badScalingGroups, badPipelines, badKafka].flat(),
];
const changes = [...badChanges, ...badPipelineChanges, ...fixedFields, ...kafkaFixedFields];

/** Words that only the API server's own decoder has. */
const inItsWords = (words: string): boolean =>
  !/unknown field|unmarshal|must be of type|should be|supported values/i.test(words);

describe("without an API server", () => {
  it.each(rows)("a bad manifest is refused: $title", ({ says, ...row }) => {
    const said = refusals(row).join("\n");
    expect(said).not.toBe("");
    for (const words of says.filter(inItsWords)) expect(said).toContain(words);
  });

  it.each(changes)("a change that the platform cannot make is refused: $title", ({ says, ...row }) => {
    const said = refusals(row, true).join("\n");
    for (const words of says) expect(said).toContain(words);
  });

  it.each([...good, ...goodResources, ...goodPipelines, ...goodKafka])("a good manifest is accepted: $title", (row) => {
    expect(refusals(row)).toEqual([]);
  });

  it.each([...goodChanges, ...goodResourceChanges, ...goodPipelineChanges, ...goodKafkaChanges])(
    "a change that the platform can make is accepted: $title",
    (row) => {
      expect(refusals(row, true)).toEqual([]);
    },
  );
});
