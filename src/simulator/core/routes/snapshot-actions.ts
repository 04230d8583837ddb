import type { Call, Reply, Route } from "../../http/exchange.ts";
import { isForm } from "../../http/incoming.ts";
import { invalid, refused } from "../../http/refusal.ts";
import { basePath, numberIn, type Properties, type Resource, textIn } from "../../store/resource.ts";
import { isVisible } from "../../store/shown.ts";
import type { World } from "../../world.ts";
import { sameRegion } from "../compute/catalogue.ts";
import { datacenter } from "../compute/datacenter.ts";
import { snapshot } from "../compute/snapshot.ts";
import { volume } from "../compute/volume.ts";
import { asObject, objectIn } from "../kind/body.ts";
import { createResource } from "../provisioning/create.ts";
import { accept, drawDuration, newWrite } from "../provisioning/provisioning.ts";
import { refuseBusy } from "../provisioning/reading.ts";
import { resolve, written } from "./table-routes.ts";

/** Copying a volume into a snapshot and back. */
export function snapshotActionRoutes(world: World): Route[] {
  const post = (action: string, handle: Route["handle"]): Route => ({
    method: "POST",
    template: `${basePath}/datacenters/{datacenterId}/volumes/{volumeId}/${action}`,
    access: "user",
    takesForm: true,
    handle,
  });
  return [
    post("create-snapshot", (call) => takeSnapshot(world, call)),
    post("restore-snapshot", (call) => restore(world, call)),
  ];
}

function idleVolume(world: World, call: Call): Resource {
  const { path, resource } = resolve(world, call, [datacenter, volume]);
  refuseBusy(path);
  return resource;
}

function takeSnapshot(world: World, call: Call): Reply {
  const holder = idleVolume(world, call);
  const write = newWrite(world, call);
  const properties = propertiesIn(call);
  const made = createResource(write, snapshot, { properties }, { parent: null, holder, path: "(root)" });
  return accept(write, made, written(world, call, made.key));
}

function restore(world: World, call: Call): Reply {
  const target = idleVolume(world, call);
  checkRestorable(world, call, target);
  const write = newWrite(world, call);
  world.resources.put({ ...target, state: "BUSY", modifiedAt: call.at, modifiedBy: call.caller.user.id });
  drawDuration(write, "restore-snapshot", [4, 8]);
  write.onDone.push({ op: "settle", key: target.key });
  write.onFailed.push({ op: "settle", key: target.key });
  return accept(write, target);
}

/** Refuses a snapshot that is not ready, is in another region, or is larger than the volume. */
function checkRestorable(world: World, call: Call, target: Resource): void {
  const id = textIn(propertiesIn(call), "snapshotId");
  if (id === undefined) throw invalid("(root).properties.snapshotId", "must name the snapshot to restore");
  const source = world.resources.get(`snapshots/${id}`);
  if (source === undefined || !isVisible(source, call.at)) {
    throw invalid("(root).properties.snapshotId", `the snapshot ${id} does not exist`);
  }
  refuseBusy([source]);
  if (!sameRegion(world, source.properties, world.resources.get(target.parent)?.properties ?? {})) {
    throw refused(
      `[VDC-14-50] The snapshot ${id} is in ${source.properties.location}, the volume is in another region`,
    );
  }
  const [needed, has] = [numberIn(source.properties, "size") ?? 0, numberIn(target.properties, "size") ?? 0];
  if (needed > has) {
    throw refused(`[VDC-14-51] The snapshot ${id} needs ${needed} GB, the volume has ${has} GB; let the volume grow`);
  }
}

/** The properties of a JSON body, of a form as older clients send it, or none. */
function propertiesIn(call: Call): Properties {
  if (call.body.trim() === "") return {};
  if (!isForm(call.headers)) return asObject(objectIn(call.body).properties ?? {}, "(root).properties");
  const fields: Record<string, unknown> = Object.fromEntries(new URLSearchParams(call.body));
  if (typeof fields.secAuthProtection === "string") {
    fields.secAuthProtection = fields.secAuthProtection.toLowerCase() === "true";
  }
  return fields;
}
