import { describe, expect, test } from "vitest";
import { isGone } from "../../../src/kube/client/errors.ts";
import { eventually, status } from "../objects.ts";
import { clientForFile, failure } from "./connected-client.ts";

const kube = clientForFile();

describe("a stream", () => {
  test("gives its chunks as they come, with no deadline after the headers", async () => {
    const opening = kube.client.stream({ method: "GET", path: "/x" });
    const exchange = await kube.server.next();
    await exchange.write("one");
    const chunks = (await opening)[Symbol.asyncIterator]();
    expect(Buffer.from((await chunks.next()).value).toString()).toBe("one");
    await kube.clock.advance(3_600_000);
    await exchange.write("two");
    expect(Buffer.from((await chunks.next()).value).toString()).toBe("two");
    exchange.end();
    expect((await chunks.next()).done).toBe(true);
  });

  test("needs its headers within the deadline", async () => {
    const failed = failure(kube.client.stream({ method: "GET", path: "/x" }));
    await kube.server.next();
    await kube.clock.advance(30_000);
    expect(await failed).toMatchObject({ status: 0, reason: "Timeout" });
  });

  test("does not take connections from calls", async () => {
    const controller = new AbortController();
    for (let n = 0; n < 64; n++) {
      const opening = kube.client.stream({ method: "GET", path: "/watch", signal: controller.signal });
      await (await kube.server.next()).write(" ");
      await opening;
    }
    const answer = kube.client.request({ method: "GET", path: "/call" });
    (await kube.server.next()).json(200, {});
    await answer;
    controller.abort();
    await eventually(() => kube.server.connections <= 1);
  });

  test("that breaks fails with a KubeError", async () => {
    const opening = kube.client.stream({ method: "GET", path: "/x" });
    const exchange = await kube.server.next();
    await exchange.write("one");
    const chunks = (await opening)[Symbol.asyncIterator]();
    await chunks.next();
    exchange.reset();
    expect(await failure(chunks.next())).toMatchObject({ status: 0, reason: "Network" });
  });

  test("that is refused fails with the Status", async () => {
    const failed = failure(kube.client.stream({ method: "GET", path: "/x" }));
    (await kube.server.next()).json(410, status(410, "Expired"));
    expect(isGone(await failed)).toBe(true);
  });
});
