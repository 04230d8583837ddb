import { describe, expect, it } from "vitest";
import { z } from "zod";
import { platformForFile } from "../platform.ts";

const platform = await platformForFile();
const { contractNumber } = platform.ready;
const minted = await platform.call("GET", "/auth/v1/tokens/generate");
const { token } = z.object({ token: z.string() }).parse(minted.body);

describe("every API of the platform", () => {
  it.each([
    ["core", "/cloudapi/v6/datacenters"],
    ["tokens", "/auth/v1/tokens"],
    ["the activity log", `/activitylog/v1/contracts/${contractNumber}`],
    ["auto scaling", "/autoscaling/v1.ea/groups"],
    ["metrics", "/monitoring/de-txl/pipelines"],
    ["logs", "/logging/de-txl/pipelines"],
    ["streaming", "/streaming/de-txl/clusters"],
    ["inference", "/inference/v1/models"],
    ["DNS", "/dns/zones"],
    ["certificates", "/certificate-manager/certificates"],
    ["billing", `/billing/${contractNumber}/products`],
  ])("%s takes a token that was generated, and nothing else in its place", async (_, path) => {
    const status = async (bearer: string) =>
      (await platform.call("GET", path, undefined, { authorization: `Bearer ${bearer}` })).status;
    expect([await status(token), await status(`${token}x`)]).toEqual([200, 401]);
  });
});
