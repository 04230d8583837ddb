import { afterEach, beforeEach, expect, test } from "vitest";
import { isConflict } from "../../../src/kube/client/errors.ts";
import { createClient, type KubeClient } from "../../../src/kube/client/transport.ts";
import { apply, FIELD_MANAGER, replaceStatus } from "../../../src/kube/write/apply.ts";
import { status, WIDGETS, widget } from "../objects.ts";
import { type ScriptedServer, scriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
let client: KubeClient;

beforeEach(async () => {
  server = await scriptedServer();
  client = createClient({ server: server.url });
});

afterEach(async () => {
  await client.close();
  await server[Symbol.asyncDispose]();
});

const managed = (object: ReturnType<typeof widget>) => ({
  ...object,
  metadata: { ...object.metadata, managedFields: [{ manager: "kubectl" }] },
});

test("sends everything but managedFields, preconditions included, and gives back an object without them", async () => {
  const applied = apply(client, WIDGETS, managed(widget("a", 5, { spec: { size: 1 } })));
  const exchange = await server.next();
  expect(exchange).toMatchObject({
    method: "PATCH",
    path: "/apis/example.dev/v1/namespaces/test/widgets/a",
    query: { fieldManager: FIELD_MANAGER, force: "true" },
  });
  expect(exchange.headers["content-type"]).toBe("application/apply-patch+yaml");
  expect(JSON.parse(exchange.body)).toEqual(widget("a", 5, { spec: { size: 1 } }));
  exchange.json(200, managed(widget("a", 6)));
  expect(await applied).toEqual(widget("a", 6));
});

test("applies under another manager and without force, when told so", async () => {
  const applied = apply(client, WIDGETS, widget("a", 5), { fieldManager: "other", force: false });
  const exchange = await server.next();
  expect(exchange.query).toEqual({ fieldManager: "other", force: "false" });
  exchange.json(200, widget("a", 6));
  await applied;
});

test("replaces a status as a whole, if the object is still the one that was read", async () => {
  const replaced = replaceStatus(client, WIDGETS, widget("a", 5), { size: 2 });
  const exchange = await server.next();
  expect(exchange).toMatchObject({
    method: "PATCH",
    path: "/apis/example.dev/v1/namespaces/test/widgets/a/status",
    query: { fieldManager: FIELD_MANAGER },
  });
  expect(exchange.headers["content-type"]).toBe("application/json-patch+json");
  expect(JSON.parse(exchange.body)).toEqual([
    { op: "replace", path: "/metadata/resourceVersion", value: "5" },
    { op: "add", path: "/status", value: { size: 2 } },
  ]);
  exchange.json(200, managed(widget("a", 6)));
  expect(await replaced).toEqual(widget("a", 6));
});

test("fails with a conflict when a precondition does not hold, in each way the apiserver says so", async () => {
  const causes = [{ field: "metadata.uid", reason: "FieldValueInvalid", message: "field is immutable" }];
  for (const refusal of [
    status(409, "Conflict", "the object has been modified"),
    status(409, "Conflict", "uid mismatch: no existing object was found"),
    status(422, "Invalid", "metadata.uid: field is immutable", { causes }),
  ]) {
    const applied = apply(client, WIDGETS, widget("a", 5));
    (await server.next()).json(refusal.code, refusal);
    await expect(applied).rejects.toSatisfy(isConflict);
  }
  const applied = apply(client, WIDGETS, widget("a", 5));
  (await server.next()).json(422, status(422, "Invalid", "spec.size: must be positive"));
  await expect(applied).rejects.not.toSatisfy(isConflict);
});
