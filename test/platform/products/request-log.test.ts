import { describe, expect, test } from "vitest";
import { Retry } from "../../../src/platform/answers/errors.ts";
import { shareRequestLog } from "../../../src/platform/products/request-log.ts";
import type { LoggedRequest } from "../../../src/platform/products/requests.ts";
import { shownAsLog } from "../../../src/platform/products/shown-as-log.ts";
import { item } from "../collections/scripted-source.ts";

const logged = (id: string, createdAt: number): LoggedRequest => ({
  id,
  method: "POST",
  url: "/datacenters",
  statusUrl: `/requests/${id}/status`,
  body: "{}",
  createdAt,
  status: "DONE",
  targets: [{ id: `target-${id}` }],
});

const { signal } = new AbortController();
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A log whose lists show the state at their start, and are answered when the test says so. */
function scripted(...there: LoggedRequest[]) {
  const listings: { createdAfter: number; answer(): Promise<void>; fail(error: Error): Promise<void> }[] = [];
  const reads: string[] = [];
  const log = shareRequestLog(
    (createdAfter) => {
      const shown = there.filter(({ createdAt }) => !(createdAt < createdAfter));
      const { promise, resolve, reject } = Promise.withResolvers<LoggedRequest[]>();
      const answer = async () => {
        resolve(shown);
        await settle();
      };
      const fail = async (error: Error) => {
        reject(error);
        await settle();
      };
      listings.push({ createdAfter, answer, fail });
      return promise;
    },
    async (id) => {
      reads.push(id);
      return item(id);
    },
  );
  const readLog = (createdAfter: number) => log(createdAfter);
  const ids = async (looking: ReturnType<typeof readLog>) => (await looking).requests.map(({ id }) => id);
  return { there, listings, reads, readLog, ids };
}

describe("a request whose date cannot be read", () => {
  const undated = (id: string) => ({ ...item(id), raw: { id, metadata: { createdDate: "yesterday" } } });

  test("is found, because it may be of any age", async () => {
    const log = shownAsLog({ key: "all", isBusy: () => false, list: async () => [undated("a")] });
    expect((await log(Date.now())).requests.map(({ id }) => id)).toEqual(["a"]);
    const { listings, readLog, ids } = scripted(logged("b", Number.NaN));
    const looking = readLog(5);
    await settle();
    await listings[0]?.answer();
    expect(await ids(looking)).toEqual(["b"]);
  });
});

describe("the request log of a collection", () => {
  test("is listed once for all who ask while a listing is under way", async () => {
    const { listings, readLog, ids } = scripted(logged("a", 10));
    const first = readLog(0);
    await settle();
    const rest = Array.from({ length: 300 }, () => readLog(0));
    await settle();
    expect(listings).toHaveLength(1);
    await listings[0]?.answer();
    expect(await ids(first)).toEqual(["a"]);
    expect(listings).toHaveLength(2);
    await listings[1]?.answer();
    for (const each of rest) expect(await ids(each)).toEqual(["a"]);
    expect(listings).toHaveLength(2);
  });

  test("never answers with a listing that began before the question", async () => {
    const { there, listings, readLog, ids } = scripted();
    const early = readLog(0);
    await settle();
    there.push(logged("late", 10));
    const after = readLog(0);
    await listings[0]?.answer();
    expect(await ids(early)).toEqual([]);
    await listings[1]?.answer();
    expect(await ids(after)).toEqual(["late"]);
    const again = readLog(0);
    await settle();
    expect(listings).toHaveLength(3);
    await listings[2]?.answer();
    expect(await ids(again)).toEqual(["late"]);
  });

  test("is read back to what the most curious asks for, and each gets its own part", async () => {
    const { listings, readLog, ids } = scripted(logged("old", 10), logged("middle", 20), logged("new", 30));
    const asked = [readLog(20), readLog(5), readLog(30)];
    await settle();
    expect(listings.map(({ createdAfter }) => createdAfter)).toEqual([5]);
    await listings[0]?.answer();
    expect(await Promise.all(asked.map(ids))).toEqual([["middle", "new"], ["old", "middle", "new"], ["new"]]);
    const next = readLog(30);
    await settle();
    expect(listings.map(({ createdAfter }) => createdAfter)).toEqual([5, 30]);
    await listings[1]?.answer();
    expect(await ids(next)).toEqual(["new"]);
  });

  test("fails all who share a listing that fails, and nobody else", async () => {
    const { listings, readLog, ids } = scripted(logged("a", 10));
    const unlucky = [readLog(0), readLog(0)];
    await settle();
    const lucky = readLog(0);
    const error = new Retry({ call: "GET /requests", status: 503 }, "no");
    const outcomes = Promise.allSettled(unlucky);
    await listings[0]?.fail(error);
    expect(await outcomes).toEqual([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
    ]);
    await listings[1]?.answer();
    expect(await ids(lucky)).toEqual(["a"]);
  });
});

describe("a resource that the log names", () => {
  test("is read once for all who share a listing, and again for the next", async () => {
    const { listings, reads, readLog } = scripted(logged("a", 10));
    const sharing = [readLog(0), readLog(0), readLog(0)];
    await settle();
    await listings[0]?.answer();
    for (const each of sharing) expect(await (await each).read("target-a", signal)).toMatchObject({ id: "target-a" });
    expect(reads).toEqual(["target-a"]);
    const later = readLog(0);
    await settle();
    await listings[1]?.answer();
    await (await later).read("target-a", signal);
    expect(reads).toEqual(["target-a", "target-a"]);
  });
});
