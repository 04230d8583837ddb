import { expect, it } from "vitest";
import { runWith } from "../scripted-cluster.ts";

it("drift of an object that is not there says so, without the names of tools", async () => {
  const { code, stderr } = await runWith({ datacenters: [] }, "drift datacenter/zzz");
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'mooring drift: there is no Datacenter zzz (namespace shop); "mooring get" shows what there is\n',
  });
});

it("drift takes objects or a selector", async () => {
  expect(await runWith({}, "drift datacenter/zzz -l app=a")).toMatchObject({ code: 2 });
});
