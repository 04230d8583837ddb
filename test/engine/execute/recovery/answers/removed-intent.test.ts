import { expect, test } from "vitest";
import { readyOf } from "../../../../../src/engine/status/status.ts";
import { Retry } from "../../../../../src/platform/answers/errors.ts";
import { fakePlatform } from "../../../support/fake-platform.ts";
import { objectOf } from "../../../support/fixtures.ts";
import { SETTINGS, stage } from "../../../support/stage.ts";

const KEY = "Datacenter/shop/a";
const HIDDEN_MS = SETTINGS.createDeadlineMs + SETTINGS.settleMs - 5000;

test("a creation whose intent is removed is not repeated by the next process while its result is hidden", async () => {
  const platform = fakePlatform();
  const object = objectOf("Datacenter", "a", { spec: { name: "a", location: "de/txl" } });
  const first = stage([object], { platform });
  platform.setClock(first.clock.now);
  platform.setPace({
    made: (item) => {
      item.visibleAt = first.clock.now() + HIDDEN_MS;
    },
  });
  // The process dies before the answer arrives.
  platform.afterEach(({ method }) => {
    if (method === "POST") throw new Retry({ call: "POST /datacenters", status: 0 }, "unknown");
  });
  await first.pass(KEY);
  const { metadata, ...rest } = first.api.get(object) ?? object;
  const { annotations: _, ...others } = metadata;
  first.api.put({ ...rest, metadata: others });
  const next = stage([], { platform, api: first.api });
  platform.setClock(next.clock.now);
  const stored = () => first.api.get(object) ?? object;
  await next.objects.store("Datacenter").replaceAll([structuredClone(stored())], first.api.version);
  for (let second = 0; second < 120; second += 5) {
    await next.passes(KEY);
    await next.clock.advance(5000);
  }
  expect(platform.items.size).toBe(1);
  expect(readyOf(stored())?.reason).toBe("AlreadyExists");
});
