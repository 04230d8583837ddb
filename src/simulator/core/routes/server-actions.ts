import type { Call, Route } from "../../http/exchange.ts";
import { refused } from "../../http/refusal.ts";
import { basePath } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import { datacenter } from "../compute/datacenter.ts";
import { server } from "../compute/server.ts";
import { accept, drawDuration, newWrite } from "../provisioning/provisioning.ts";
import { refuseBusy } from "../provisioning/reading.ts";
import { resolve } from "./table-routes.ts";

/** Which server types an action is for, and how the machine is afterwards. */
const actions = {
  start: { types: ["ENTERPRISE", "VCPU"], vmState: "RUNNING" },
  stop: { types: ["ENTERPRISE", "VCPU"], vmState: "SHUTOFF" },
  reboot: { types: ["ENTERPRISE", "VCPU", "CUBE"], vmState: "RUNNING" },
  suspend: { types: ["CUBE"], vmState: "SUSPENDED" },
  resume: { types: ["CUBE"], vmState: "RUNNING" },
  upgrade: { types: ["ENTERPRISE", "VCPU", "CUBE"], vmState: "RUNNING" },
} as const;

/** Power actions, the remote console and the server's own token. */
export function serverActionRoutes(world: World): Route[] {
  const template = `${basePath}/datacenters/{datacenterId}/servers/{serverId}`;
  const serverOf = (call: Call) => resolve(world, call, [datacenter, server]);
  return [
    ...Object.entries(actions).map(
      ([action, { types, vmState }]): Route => ({
        method: "POST",
        template: `${template}/${action}`,
        access: "user",
        handle(call) {
          const { path, resource: target } = serverOf(call);
          if (!types.some((type) => type === target.properties.type)) {
            throw refused(
              `[VDC-14-31] The action ${action} is not available on a server of type ${target.properties.type}`,
            );
          }
          refuseBusy(path);
          const write = newWrite(world, call);
          world.resources.put({ ...target, state: "BUSY" });
          drawDuration(write, action, [1, 3]);
          write.targets.push(target);
          write.onDone.push({ op: "settle", key: target.key, merge: { vmState } });
          write.onFailed.push({ op: "settle", key: target.key });
          return accept(write, target);
        },
      }),
    ),
    {
      method: "GET",
      template: `${template}/remoteconsole`,
      access: "user",
      handle: (call) => ({ status: 200, body: { url: `${call.origin}/console?server=${serverOf(call).resource.id}` } }),
    },
    {
      method: "GET",
      template: `${template}/token`,
      access: "user",
      handle: (call) => ({
        status: 200,
        body: {
          token: Buffer.from(`${serverOf(call).resource.id}:${world.chance.uuid("server-token")}`).toString(
            "base64url",
          ),
        },
      }),
    },
  ];
}
