import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { chatModel, startGateway } from "../gateway/running.ts";
import { scriptedPlatform } from "../gateway/scripted-platform.ts";

/** Lists no models before the end of the first test. */
const over = Promise.withResolvers<void>();
const platform = await scriptedPlatform((_, response) => void over.promise.then(() => response.end('{"data":[]}')));

it.each([
  ["by a namespace with access, while the platform lists no models", "token-of-shop"],
  ["by anybody, while its token waits for its review", "garbage"],
])("requests that one connection sends at once do not pile up in memory: %s", async (_, token) => {
  const gateway = await startGateway({
    upstream: platform.upstream,
    credentials: async () => ({ authorization: "Bearer platform-secret" }),
    accesses: [{ namespace: "shop", name: "chat", models: [chatModel] }],
  });
  onTestFinished(() => {
    over.resolve();
    return gateway.stop();
  });
  let review = () => {};
  const waiting = new Promise<void>((resolve) => {
    review = resolve;
  });
  onTestFinished(review);
  if (token === "garbage") gateway.reviews.hold = () => waiting;
  const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => void socket.destroy());
  const request = `GET /v1/models HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  let most = 0;
  for (let round = 0; round < 100 && !socket.destroyed; round += 1) {
    await new Promise<void>((resolve) => {
      socket.once("close", () => resolve());
      socket.write(request.repeat(100), () => setImmediate(resolve));
    });
    most = Math.max(most, gateway.server.open());
  }
  expect(most).toBeLessThan(200);
});
