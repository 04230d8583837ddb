import { expect } from "vitest";
import { oneOfEverything } from "./one-of-everything.ts";
import { serviceFor } from "./pipelines.ts";
import type { Platform } from "./platform.ts";
import { groupBody, scalerFor } from "./scaling.ts";
import { streamingOf } from "./streaming.ts";

/** Makes one of everything that a contract can hold, of all products; gives the path that a core template stands for. */
export async function fullContract(platform: Platform): Promise<(template: string) => string> {
  const at = await oneOfEverything(platform);
  await scalerFor(platform).group(groupBody(at("/datacenters/{datacenter}")));
  for (const service of ["monitoring", "logging"] as const) {
    const { call, made } = serviceFor(platform, service, "de-fra");
    await made();
    expect(await call("PUT", "/central", { properties: { enabled: true } })).toMatchObject({ status: 200 });
  }
  const streaming = await streamingOf(platform);
  await streaming.topic(await streaming.cluster(), { name: "orders" });
  return at;
}
