import { describe, expect, it } from "vitest";
import { patient } from "../../../src/cli/demo/patience.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import type { KubeClient } from "../../../src/kube/client/transport.ts";

const failure = (status: number, reason: string) => new KubeError({ status, reason, message: `GET /apis: ${reason}` });

/** A client whose calls end one after the other as given: by an error, or by this answer. */
function scripted(...ends: unknown[]) {
  let calls = 0;
  const request = () => {
    const end = ends[Math.min(calls++, ends.length - 1)];
    return end instanceof Error ? Promise.reject(end) : Promise.resolve(end);
  };
  return { client: { server: "", request, close: async () => {} } as unknown as KubeClient, count: () => calls };
}

const call = { method: "GET", path: "/apis" } as const;

describe("the client of the demo", () => {
  it("repeats a call without an answer, and tells when answers fail and when they come again", async () => {
    const { client, count } = scripted(failure(0, "Timeout"), failure(503, "Unavailable"), "an answer");
    const told: string[] = [];
    const until = new AbortController().signal;
    const calls = patient(client, { tell: (text) => told.push(text), until, pauseMs: 1 });
    expect(await calls.request(call)).toBe("an answer");
    expect(await calls.request(call)).toBe("an answer");
    expect(count()).toBe(4);
    expect(told).toEqual([
      "kubernetes   no answer yet, trying again: GET /apis: Timeout",
      "kubernetes   answers again",
    ]);
  });

  it("passes on an answer that refuses the call", async () => {
    const { client, count } = scripted(failure(403, "Forbidden"));
    const calls = patient(client, { tell: () => {}, until: new AbortController().signal, pauseMs: 1 });
    await expect(calls.request(call)).rejects.toThrow("Forbidden");
    expect(count()).toBe(1);
  });

  it("ends with the error of the process that has ended", async () => {
    const { client } = scripted(failure(0, "Network"));
    const ended = new AbortController();
    const tell = () => ended.abort(new Error("kube-apiserver ended with code 1"));
    await expect(patient(client, { tell, until: ended.signal, pauseMs: 60_000 }).request(call)).rejects.toThrow(
      "kube-apiserver ended with code 1",
    );
  });
});
