import { expect, it } from "vitest";
import { chatModel, startGateway } from "../running.ts";
import { scriptedPlatform } from "../scripted-platform.ts";

// The platform never answers, and the gateway asks it for 30 s.
it("does not wait for the platform's list of models for a client that has left", { timeout: 20_000 }, async () => {
  const asked = Promise.withResolvers<void>();
  const { upstream } = await scriptedPlatform(() => asked.resolve());
  const own = await startGateway({
    upstream,
    credentials: async () => ({ authorization: "Bearer platform-secret" }),
    accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
  });
  const authorization = "Bearer token-of-shop";
  const leaving = new AbortController();
  const left = fetch(`${own.url}/v1/models`, { headers: { authorization }, signal: leaving.signal });
  await asked.promise;
  leaving.abort();
  await expect(left).rejects.toThrow();
  await own.stop();
});
