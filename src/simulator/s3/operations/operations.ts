import { noSuchBucket } from "../buckets/buckets.ts";
import { type BucketCall, type Depot, mayRead, type ObjectCall, type S3Call, type S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import { queryIn, type Target, targetOf } from "../request/target.ts";
import { accessOperations } from "./access-list.ts";
import { bucketOperations } from "./bucket-operations.ts";
import { checkSource } from "./conditions.ts";
import { listOperations } from "./list-operations.ts";
import { objectOperations } from "./object-operations.ts";
import { attributesOf } from "./object-parts.ts";
import { objectSettingOperations } from "./object-settings.ts";
import { settingOperations, subresources } from "./settings.ts";
import { uploadOperations } from "./upload-operations.ts";

type Answer = S3Reply | Promise<S3Reply>;

/** The operations by what they are about. */
const operationsOf = (depot: Depot, nameOf: (userId: string) => string) => {
  const objects = objectOperations(depot);
  return {
    depot,
    objects,
    buckets: bucketOperations(depot),
    lists: listOperations(depot, nameOf),
    access: accessOperations(nameOf),
    uploads: uploadOperations(depot),
    settings: settingOperations(depot),
    objectSettings: objectSettingOperations(depot, objects.find),
  };
};

type Operations = ReturnType<typeof operationsOf>;

/** Finds the operation that a call asks for, checks that the caller may do it, and does it. */
export function createOperations(depot: Depot, nameOf: (userId: string) => string) {
  const operations = operationsOf(depot, nameOf);
  return (call: S3Call, target: Target): Answer => {
    const method = call.request.method ?? "";
    const sub = subresourceOf(target);
    if (target.bucket === "") {
      if (method === "GET") return operations.buckets.list(call);
      throw unknown(method, undefined);
    }
    return target.key === ""
      ? onBucket(operations, call, method, target.bucket, sub)
      : onObject(operations, call, method, target, sub);
  };
}

/** Only the user who created a bucket has access; the contract's owner may read it. */
function opened({ depot }: Operations, call: S3Call, name: string, reading: boolean): BucketCall {
  const bucket = depot.buckets.buckets.get(name);
  if (bucket === undefined) throw noSuchBucket(name);
  if (bucket.userId !== call.user.id && !(reading && mayRead(call.user, bucket))) {
    throw fault("AccessDenied", "Access denied: the bucket belongs to another user");
  }
  return { ...call, bucket };
}

function onBucket(operations: Operations, call: S3Call, method: string, name: string, sub: string | undefined): Answer {
  const { buckets, lists, access, uploads, settings } = operations;
  if (method === "PUT" && sub === undefined) return buckets.create(call, name);
  const bucketCall = opened(operations, call, name, method === "GET" || method === "HEAD");
  switch (`${method} ${sub ?? ""}`.trim()) {
    case "HEAD":
      return buckets.head(bucketCall);
    case "DELETE":
      return buckets.remove(bucketCall);
    case "GET":
      return call.query("list-type") === "2" ? lists.v2(bucketCall) : lists.v1(bucketCall);
    case "GET acl":
      return access.read(bucketCall);
    case "PUT acl":
      return access.write(bucketCall);
    case "GET location":
      return buckets.location(bucketCall);
    case "GET versions":
      return lists.versions(bucketCall);
    case "GET uploads":
      return uploads.list(bucketCall);
    case "POST delete":
      return buckets.removeObjects(bucketCall);
    default:
      if (sub === undefined) throw unknown(method, sub);
      if (method === "GET") return settings.read(bucketCall, sub);
      if (method === "PUT") return settings.write(bucketCall, sub);
      if (method === "DELETE") return settings.remove(bucketCall, sub);
      throw unknown(method, sub);
  }
}

function onObject(
  operations: Operations,
  call: S3Call,
  method: string,
  { bucket, key }: Target,
  sub: string | undefined,
): Answer {
  const { objects, access, uploads, objectSettings } = operations;
  const copySource = call.header("x-amz-copy-source");
  const objectCall: ObjectCall = { ...opened(operations, call, bucket, method === "GET" || method === "HEAD"), key };
  switch (`${method} ${sub ?? ""}`.trim()) {
    case "GET":
    case "HEAD":
    case "GET partNumber":
    case "HEAD partNumber":
      return objects.read(objectCall);
    case "GET attributes":
      return attributesOf(objectCall, objects.find(objectCall));
    case "GET acl":
    case "PUT acl":
      objects.find(objectCall);
      return method === "GET" ? access.read(objectCall) : access.write(objectCall);
    case "PUT":
      return copySource === undefined
        ? objects.put(objectCall)
        : objects.copy(objectCall, sourceOf(operations, call, copySource));
    case "DELETE":
      return objects.remove(objectCall);
    case "POST uploads":
      return uploads.start(objectCall);
    case "PUT uploadId":
      return copySource === undefined
        ? uploads.putPart(objectCall)
        : uploads.copyPart(objectCall, sourceOf(operations, call, copySource));
    case "POST uploadId":
      return uploads.complete(objectCall);
    case "DELETE uploadId":
      return uploads.abort(objectCall);
    case "GET uploadId":
      return uploads.listParts(objectCall);
    default:
      if (sub === undefined) throw unknown(method, sub);
      if (method === "GET") return objectSettings.read(objectCall, sub);
      if (method === "PUT") return objectSettings.write(objectCall, sub);
      if (method === "DELETE" && sub === "tagging") return objectSettings.remove(objectCall);
      throw unknown(method, sub);
  }
}

/** The object that a copy is made of. */
function sourceOf(operations: Operations, call: S3Call, header: string) {
  const target = targetOf(header.replace(/^\/?/, "/"));
  const source = operations.objects.find({
    ...opened(operations, call, target.bucket, true),
    key: target.key,
    query: queryIn(target),
  });
  checkSource(call, source);
  return source;
}

function subresourceOf({ query }: Target): string | undefined {
  const named = query.map(([name]) => name).filter((name) => subresources.has(name));
  return named.includes("uploadId") ? "uploadId" : named[0];
}

const unknown = (method: string, sub: string | undefined) =>
  sub === undefined
    ? fault("MethodNotAllowed", `The object storage does no ${method} here`)
    : fault("NotImplemented", `The object storage has no ${method} of ${sub} here`);
