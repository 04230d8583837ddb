import { expect, it } from "vitest";
import { z } from "zod";
import { createLedger } from "../../../src/simulator/billing/ledger.ts";
import { createDnsRecords } from "../../../src/simulator/records/dns.ts";
import { createPipelineRecords } from "../../../src/simulator/records/pipelines.ts";
import { createStreamingRecords } from "../../../src/simulator/records/streaming.ts";
import { createDocuments } from "../../../src/simulator/store/documents.ts";
import { plainResource } from "../../../src/simulator/store/resource.ts";
import { createResources } from "../../../src/simulator/store/resources.ts";

function setUp() {
  const documents = createDocuments(() => {});
  const resources = createResources(documents);
  const counts = documents.table("counters", z.number());
  const time = { now: 0 };
  const ledger = createLedger({
    documents,
    resources,
    counters: {
      next(purpose) {
        const n = counts.get(purpose) ?? 0;
        counts.put(purpose, n + 1);
        return n;
      },
    },
    clock: { now: () => time.now, advance: () => {}, realUntil: () => 0 },
    scope: "",
    pipelines: createPipelineRecords(documents),
    streaming: createStreamingRecords(documents),
    dns: createDnsRecords(documents),
  });
  const put = (id: string, size: number) => {
    const place = { key: `snapshots/${id}`, id, type: "snapshot", collection: "snapshots", parent: "" };
    resources.put(plainResource(place, { size, location: "de/fra" }, time.now, "user"));
  };
  return { documents, resources, ledger, time, put };
}

it("a refused call is not counted", () => {
  const { documents, ledger, put } = setUp();
  expect(() =>
    documents.transaction(() => {
      put("a", 10);
      throw new Error("refused");
    }),
  ).toThrow("refused");
  documents.transaction(() => put("b", 10));
  expect([...ledger.intervals()].map(({ id }) => id)).toEqual(["b"]);
});

it("a change ends one stretch and begins the next; a write that changes nothing does not", () => {
  const { documents, resources, ledger, time, put } = setUp();
  for (const [at, size] of [
    [0, 10],
    [5, 10],
    [7, 20],
  ] as const) {
    time.now = at;
    documents.transaction(() => put("a", size));
  }
  time.now = 9;
  documents.transaction(() => resources.remove("snapshots/a"));
  expect([...ledger.intervals()]).toMatchObject([
    { amount: 10, from: 0, to: 7 },
    { amount: 20, from: 7, to: 9 },
  ]);
});

it("of what has ended 20,000 stretches are kept, and all that lasts", () => {
  const { documents, ledger, time, put } = setUp();
  documents.transaction(() => put("first", 1));
  for (let n = 0; n <= 20_010; n += 1) {
    time.now = n;
    documents.transaction(() => put("busy", n + 1));
  }
  const kept = [...ledger.intervals()];
  expect(kept.filter(({ to }) => to === null).map(({ id, amount }) => [id, amount])).toEqual([
    ["first", 1],
    ["busy", 20_011],
  ]);
  const ended = kept.filter(({ to }) => to !== null);
  expect(ended).toHaveLength(20_000);
  expect(ended[0]?.amount).toBe(11);
});
