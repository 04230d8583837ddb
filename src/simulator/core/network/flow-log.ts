import { refused } from "../../http/refusal.ts";
import { flowLogSchema } from "../../records/fields.ts";
import { bucketNameRule, isBucketName } from "../../s3/buckets/records.ts";
import { textIn } from "../../store/resource.ts";
import type { World } from "../../world.ts";
import type { Kind } from "../kind/kind.ts";

/** The capture of the traffic of one NIC, load balancer or NAT gateway into a bucket. It never changes. */
export const flowLog: Kind = {
  type: "flow-log",
  collection: "flowlogs",
  param: "flowlogId",
  parents: ["nic", "networkloadbalancer", "applicationloadbalancer", "natgateway"],
  verbs: { collection: "GP", item: "GUAD" },
  paged: true,
  schema: flowLogSchema,
  privilege: "createFlowLog",
  spans: { create: [1, 3], update: [1, 3], delete: [1, 3] },

  shape(draft) {
    const { world, next, parent } = draft;
    const [first] = world.resources.children(parent?.key ?? "", "flowlogs");
    if (parent !== null && first !== undefined) {
      throw refused(
        `[VDC-14-60] The ${parent.type} ${parent.id} has the flow log ${first.properties.name} already; delete it first`,
      );
    }
    if (next.action === "ANY") next.action = "ALL";
    const fault = bucketFault(world, textIn(next, "bucket") ?? "");
    if (fault !== undefined) draft.fault("bucket", fault);
  },

  guard(_world, { id }, write) {
    if (write === "delete") return;
    throw refused(`[VDC-14-61] The flow log ${id} cannot be changed: delete it and create a new one`);
  },
};

/** The fault of `bucket`, which is the name of a bucket, optionally with a prefix for the objects: `bucket/prefix`. */
export function bucketFault({ storage }: World, bucket: string): string | undefined {
  const [name = "", ...prefix] = bucket.split("/");
  if (!isBucketName(name)) return `"${name}" cannot be a bucket: ${bucketNameRule}`;
  if (!storage.hasBucket(name)) return `the bucket ${name} does not exist; create it in the object storage first`;
  return prefix.length > 0 && prefix.join("/") === "" ? "has an empty prefix behind the slash" : undefined;
}
