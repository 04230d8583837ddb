import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createTransport } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";
import { answer, scriptedServer } from "../scripted-server.ts";

async function failing(status: number, message: string): Promise<unknown> {
  await using server = await scriptedServer(answer(status, { messages: [{ errorCode: "100", message }] }));
  const transport = createTransport({ clock: fakeClock(), random: () => 0 });
  const connection = transport.connect("shop/main", { token: "token" });
  const sending = connection.send({ method: "POST", url: `${server.url}/pipelines`, body: {}, makesKey: true });
  const error: unknown = await sending.catch((reason: unknown) => reason);
  await transport.close();
  return error;
}

describe("an error of a call that makes a key", () => {
  test.each([500, 503])("is not quoted when the key may exist: %i", async (status) => {
    const error = await failing(status, "the key 5ecret-of-the-answer was made");
    expect(error).toMatchObject({ kind: "Retry", executed: "unknown" });
    expect(String(error)).toContain("its message is not shown");
    expect(inspect(error)).not.toContain("5ecret");
  });

  test("is quoted when it refuses the call", async () => {
    const error = await failing(422, "the name is taken");
    expect(String(error)).toContain("the name is taken");
  });
});
