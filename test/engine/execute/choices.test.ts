import { expect, test } from "vitest";
import { choicesFor } from "../../../src/engine/execute/lookups.ts";
import type { Context } from "../../../src/engine/observe/view.ts";
import { datacenter } from "../../../src/kinds/compute/datacenter.ts";
import { type PlatformError, Retry, Terminal } from "../../../src/platform/answers/errors.ts";
import { createCatalogues } from "../../../src/platform/products/catalogues.ts";
import { fakeClock } from "../../fake-clock.ts";
import { API } from "../support/fake-platform.ts";
import { handleOf, scriptedConnection } from "../support/fixtures.ts";

const refusal = new Terminal({ call: "POST /datacenters", status: 422, detail: "the location does not exist" });
const locations = { items: [{ id: "de/txl" }, { id: "de/fra" }] };

async function reported(location: string, error: PlatformError, answer: () => object = () => locations) {
  const asked: string[] = [];
  const connection = scriptedConnection(({ url }) => {
    asked.push(new URL(url).pathname);
    return answer();
  });
  const account: Context["account"] = handleOf("shop/main", { connection, endpoint: () => API });
  const desired = datacenter.resource?.desire({ location });
  const text = await choicesFor({ catalogues: createCatalogues(fakeClock()) }, { account, desired }, error);
  return { text, asked };
}

test("a location that does not exist is refused with those that do", async () => {
  expect(await reported("de/xxx", refusal)).toEqual({
    text: "; valid for spec.location: de/fra, de/txl",
    asked: ["/cloudapi/v6/locations"],
  });
});

test("a refusal for another reason has no list, and one that passes costs no call", async () => {
  expect((await reported("de/txl", refusal)).text).toBe("");
  const later = new Retry({ call: "POST /datacenters", status: 503, detail: "" }, "no");
  expect(await reported("de/xxx", later)).toEqual({ text: "", asked: [] });
});

test("a list that cannot be read is left out", async () => {
  const broken = await reported("de/xxx", refusal, () => {
    throw new Retry({ call: "GET /locations", status: 503, detail: "" }, "no");
  });
  expect(broken.text).toBe("");
  expect((await reported("de/xxx", refusal, () => ({ nothing: true }))).text).toBe("");
});
