import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { api, type Landscape, landscape } from "../../cluster/landscape.ts";

let world: Landscape;
let endpoints: string;
let token: string;
const MARKS = { label: "true", finalizers: '["mooring.dev/finalizer"]' };

beforeAll(async () => {
  world = await landscape();
  await world.untilReady("account/main");
  endpoints = await world.value("account/main", "{.spec.endpoints}");
  token = Buffer.from(await world.value("secret/token", "{.data.token}"), "base64").toString();
});

const account = (name: string, secret: string) => ({
  apiVersion: api,
  kind: "Account",
  metadata: { name },
  spec: {
    endpoints: z.record(z.string(), z.string()).parse(JSON.parse(endpoints)),
    region: "de/txl",
    credentialsSecretRef: { name: secret },
  },
});
const secret = (name: string, value: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, labels: { team: "shop" } },
  stringData: { token: value },
});
const marksOf = async (name: string) => ({
  label: await world.value(`secret/${name}`, "{.metadata.labels.mooring\\.dev/credentials}"),
  finalizers: await world.value(`secret/${name}`, "{.metadata.finalizers}"),
});

describe("the Secret of an Account, under the policies that ship", () => {
  it("is found when it is created later than the Account, and its changes are seen from then on", async () => {
    await world.apply(account("late", "later"));
    await world.untilReason("account/late", "CredentialsMissing");
    await world.apply(secret("later", token));
    await world.untilReady("account/late");
    expect(await marksOf("later")).toEqual(MARKS);
    await world.apply(secret("later", "wrong"));
    await world.untilReason("account/late", "Unauthorized");
    await world.apply(secret("later", token));
    await world.untilReady("account/late");
  });

  it("is left as it was when the Account names another one, or goes", async () => {
    await world.apply(secret("next", token), account("late", "next"));
    await expect.poll(() => marksOf("later")).toEqual({ label: "", finalizers: "" });
    await expect.poll(() => marksOf("next")).toEqual(MARKS);
    await world.remove(account("late", "next"));
    expect(await marksOf("next")).toEqual({ label: "", finalizers: "" });
    expect(await world.value("secret/next", "{.metadata.labels}")).toBe('{"team":"shop"}');
  });
});
