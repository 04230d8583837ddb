import { z } from "zod";
import { mostEntries } from "./activity/log.ts";
import { groupType, stateOf as scalingState, shownProperties } from "./autoscaling/view.ts";
import { objectIn } from "./core/kind/body.ts";
import { kindOf, kinds, wireTypeOf } from "./core/table.ts";
import type { FaultChooser } from "./faults/chooser.ts";
import { checkPlan } from "./faults/plan.ts";
import type { CallCounter } from "./http/calls.ts";
import type { Call, Method, Reply, Route } from "./http/exchange.ts";
import { invalid } from "./http/refusal.ts";
import { longestLifetime } from "./identity/identity.ts";
import { managed } from "./managed-kinds.ts";
import { centralsIn } from "./pipelines/central.ts";
import { limitsOf, limitsSchema } from "./records/limits.ts";
import type { Resource } from "./store/resource.ts";
import { isVisible } from "./store/shown.ts";
import { timestamp } from "./time.ts";
import { privilegeFlagSchema, privilegeFlags } from "./users.ts";
import type { Contracts, World } from "./world.ts";

const advanceSchema = z.object({
  seconds: z
    .number()
    .min(0)
    .max(10 * 365 * 86_400),
});
const activitySchema = z.object({
  count: z.int().min(1).max(mostEntries),
  seconds: z
    .number()
    .min(0)
    .max(35 * 86_400),
});
const username = z
  .string()
  .min(1)
  .regex(/^[^:]+$/, "must not contain a colon");
const password = z.string().min(1);
const ownerSchema = z.object({ username: username.optional(), password: password.optional() });
const userSchema = z.object({
  username,
  password,
  role: z.enum(["owner", "administrator", "user"]).default("user"),
  twoFactor: z.boolean().default(false),
  /** Absent: all privileges; `[]`: only those of the user's groups. */
  privileges: z.array(privilegeFlagSchema).default([...privilegeFlags]),
});

export interface SteeringParts {
  contracts: Contracts;
  calls: CallCounter;
  faults: FaultChooser;
}

/** The control endpoints, for tests and demos. Calls to them are not counted and have no faults. */
export function steeringRoutes(world: World, { contracts, calls, faults }: SteeringParts): Route[] {
  const route = (method: Method, path: string, handle: (call: Call) => unknown): Route => ({
    method,
    template: `/_simulator/${path}`,
    access: "steering",
    handle: (call): Reply => ({ status: 200, body: handle(call), indent: true }),
  });
  return [
    route("GET", "state", () => stateOf(world)),
    route("GET", "calls", () => calls.report()),
    route("POST", "calls/reset", () => {
      calls.reset();
      return calls.report();
    }),
    route("GET", "faults", () => faults.plan()),
    route("PUT", "faults", (call) => {
      const body = objectIn(call.body);
      try {
        faults.replace(checkPlan(body));
      } catch (error) {
        throw invalid("(root)", error instanceof Error ? error.message : String(error));
      }
      return faults.plan();
    }),
    route("POST", "advance", (call) => {
      world.clock.advance(checked(advanceSchema, call.body).seconds * 1000);
      // The listener runs due entries before the next answer; this runs them without waiting for one.
      setImmediate(() => world.agenda.run());
      return { now: timestamp(world.clock.now()) };
    }),
    route("POST", "activity", (call) => {
      const { count, seconds } = checked(activitySchema, call.body);
      const now = world.clock.now();
      world.activity.fill(count, now - 1000 * seconds, now);
      return { count };
    }),
    route("GET", "contracts", () => ({
      items: contracts.all().map(({ contractNumber, identity }) => ({
        contractNumber,
        users: [...identity.users.values()].map(({ id, username, role }) => ({ id, username, role })),
      })),
    })),
    route("POST", "contracts", (call) => contracts.add(call.body === "" ? {} : checked(ownerSchema, call.body))),
    route("POST", "users", (call) => {
      const user = world.identity.addUser({ ...checked(userSchema, call.body), active: true });
      return { userId: user.id, token: world.identity.mint(user, longestLifetime) };
    }),
    route("GET", "limits", () => limitsOf(world)),
    route("PUT", "limits", (call) => {
      world.limits.put("contract", checked(limitsSchema, call.body));
      return limitsOf(world);
    }),
  ];
}

function checked<T>(schema: z.ZodType<T>, body: string): T {
  const parsed = schema.safeParse(objectIn(body));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(["(root)", ...(issue?.path.map(String) ?? [])].join("."), issue?.message ?? "is not valid");
}

/** Left out of the lists: what the platform offers, accounts, and keys, which are secrets. */
const omitted = new Set(["image", "template", "location", "user", "s3key"]);

function stateOf(world: World) {
  const lists: Record<string, object[]> = {};
  for (const kind of kinds) {
    if (omitted.has(kind.type)) continue;
    const found = [...world.resources.ofType(kind.type)].map((each) => flat(world, each));
    // Several kinds have collections of the same name.
    lists[kind.collection] = [...(lists[kind.collection] ?? []), ...found];
  }
  return {
    now: timestamp(world.clock.now()),
    contractNumber: world.contractNumber,
    ...lists,
    groups: [...(lists.groups ?? []), ...scalingGroups(world)],
    centrals: centralsIn(world),
    ...Object.fromEntries(managed.map(({ name, state }) => [name, state(world)])),
    requests: [...world.requests.values()].map(
      ({ id, method, url, status, message, targets, createdAt, createdBy }) => ({
        id,
        method,
        url,
        status,
        message,
        targets: targets.map((target) => ({ id: target.id, type: wireTypeOf(target.type) })),
        createdDate: timestamp(createdAt),
        createdByUserId: createdBy,
      }),
    ),
    users: [...world.identity.users.values()].map(({ id, username, role }) => ({ id, username, role })),
    tokens: [...world.identity.tokens.values()].map(({ id, userId, createdAt, expiresAt }) => ({
      id,
      userId,
      createdDate: timestamp(createdAt),
      properties: { ttl: (expiresAt - createdAt) / 1000 },
    })),
  };
}

function scalingGroups(world: World): object[] {
  return [...world.scaling.groups.values()].map((group) => ({
    id: group.id,
    type: groupType,
    name: group.properties.name,
    datacenterId: group.properties.datacenter.id,
    state: scalingState(world, group),
    visible: isVisible(group, world.clock.now()),
    createdDate: timestamp(group.createdAt),
    createdByUserId: group.createdBy,
    lastFailure: world.scaling.actionsOf(group.id).findLast(({ failure }) => failure !== null)?.failure ?? null,
    properties: shownProperties(world, group.origin, group),
  }));
}

/** A resource with the ids of its parents and of the resources it refers to: `datacenterId`, `serverId`, `lanId` … */
function flat(world: World, resource: Resource) {
  const related: Record<string, string> = {};
  for (let above = world.resources.get(resource.parent); above; above = world.resources.get(above.parent)) {
    related[kindOf(above.type).param] = above.id;
  }
  for (const ref of resource.refs) {
    const other = world.resources.get(ref);
    if (other !== undefined) related[kindOf(other.type).param] = other.id;
  }
  return {
    id: resource.id,
    type: wireTypeOf(resource.type),
    ...related,
    state: resource.state,
    visible: isVisible(resource, world.clock.now()),
    createdDate: timestamp(resource.createdAt),
    createdByUserId: resource.createdBy,
    properties: resource.properties,
  };
}
