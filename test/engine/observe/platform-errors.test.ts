import { describe, expect, test } from "vitest";
import { obstacleFrom } from "../../../src/engine/observe/platform-errors.ts";
import { needsPerson } from "../../../src/engine/status/reasons.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { hasResource, type ResourceKind } from "../../../src/kinds/kind.ts";
import { KubeError } from "../../../src/kube/client/errors.ts";
import { Forbidden, NotFound, Retry, Terminal, Unauthorized } from "../../../src/platform/answers/errors.ts";
import { inputs, sent } from "../../kinds/mapped.ts";
import { subjects } from "../../subjects/index.ts";

const refused = (status: number, platformMessage?: string) => ({ call: "POST /servers", status, platformMessage });

describe("an error of the platform", () => {
  test.each([
    ["401", new Unauthorized(refused(401, "bad token")), "Unauthorized", true],
    ["403", new Forbidden(refused(403, "not yours")), "Forbidden", true],
    ["404", new NotFound(refused(404, "not there")), "PlatformUnavailable", false],
    ["422", new Terminal(refused(422, "cores: too many")), "Rejected", true],
    ["422 about a limit", new Terminal(refused(422, "limit reached"), { quota: true }), "QuotaExceeded", true],
    ["422 while busy", new Terminal(refused(422, "is busy"), { busy: true }), "Updating", false],
    ["429", new Retry(refused(429), "no", 3000), "RateLimited", false],
    ["503", new Retry(refused(503), "unknown"), "PlatformUnavailable", false],
    [
      "a timeout",
      new Retry({ call: "POST /servers", status: 0, detail: "timeout" }, "unknown"),
      "PlatformUnavailable",
      false,
    ],
  ])("%s becomes a reason", (_, error, reason, stalled) => {
    expect(obstacleFrom(error)).toMatchObject({ reason });
    expect(needsPerson(obstacleFrom(error).reason)).toBe(stalled);
    expect(obstacleFrom(error).message).not.toBe("");
  });

  test("names the privilege that is needed, unless the platform has done so", () => {
    const { privilege } = kindOf("LogPipeline").resource.place;
    const messageOf = (words: string) =>
      obstacleFrom(new Forbidden(refused(403, words)), kindOf("LogPipeline")).message;
    expect(messageOf("Access denied")).toBe(`Access denied: the privilege "${privilege}" is needed`);
    expect(messageOf(`You lack "${privilege}"`)).toBe(`You lack "${privilege}"`);
  });

  test("quotes the platform where it has a message", () => {
    expect(obstacleFrom(new Terminal(refused(422, "[VDC-5-17] no room left"))).message).toBe("[VDC-5-17] no room left");
    expect(obstacleFrom(new Terminal(refused(422))).message).toBe("POST /servers answered 422");
  });
});

describe("a refusal names the field of spec", () => {
  const messageOf = (kind: string, words: string) =>
    obstacleFrom(new Terminal(refused(422, words)), kindOf(kind)).message;

  test.each([
    ["Server", "[(root).properties.cores] too many", "spec.cores: too many"],
    ["Server", "[(root).entities.volumes.items[0].properties.size] too big", "spec.bootVolume.size: too big"],
    ["Server", "[(root).entities.nics.items[1].properties.lan] no", "spec.nics[1].lan: no"],
    [
      "Server",
      "[(root).entities.nics.items[1].entities.firewallrules.items[0].properties.sourceIp] no",
      "spec.nics[1].firewallRules[0].sourceIp: no",
    ],
    ["ScalingGroup", "[(root).properties.maxReplicaCount] too many", "spec.maxReplicas: too many"],
    ["KafkaCluster", "[(root).properties.connections[0].lanId] no", "spec.connection.lanId: no"],
    ["Lan", "[(root)] is not JSON; [(root).properties.public] odd", "is not JSON; spec.public: odd"],
    ["Server", "[(root).properties.lan] of a NIC", "lan: of a NIC"],
    ["Lan", "[nics] Cannot delete lan which contains nics", "[nics] Cannot delete lan which contains nics"],
  ])("of a %s: %s", (kind, words, message) => {
    expect(messageOf(kind, words)).toBe(message);
  });

  test.each(subjects.filter(({ kind }) => kinds.find((each) => each.kind === kind)?.resource))(
    "whatever of it is sent: $kind",
    ({ kind, spec }) => {
      const body = sent(
        kindOf(kind)
          .resource.desire(spec)
          .body(inputs({ parents: { datacenter: "d", lan: "l" } })),
      );
      const odd = pathsIn(body, "(root)").filter(
        (path) => !/^spec\.[\w.[\]]+: no$/.test(messageOf(kind, `[${path}] no`)),
      );
      expect(odd).toEqual([]);
    },
  );
});

/** The positions of the values in a body, in the platform's notation. */
function pathsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => pathsIn(each, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, each]) => pathsIn(each, `${path}.${name}`));
}

function kindOf(name: string): ResourceKind {
  const kind = kinds.find((each) => each.kind === name);
  if (!kind || !hasResource(kind)) throw new Error(`${name} has no resource`);
  return kind;
}

test("an API server that is away for a moment is no fault of the operator's own, one that refuses is", () => {
  const kube = (status: number, reason: string) => new KubeError({ status, reason, message: `${status} ${reason}` });
  for (const [status, reason] of [
    [0, "Network"],
    [0, "Timeout"],
    [429, "TooManyRequests"],
    [503, "ServiceUnavailable"],
  ] as const) {
    const message = `${status} ${reason}`;
    expect(obstacleFrom(kube(status, reason))).toEqual({ reason: "KubernetesUnavailable", message });
  }
  expect(obstacleFrom(kube(422, "Invalid"))).toMatchObject({ reason: "InternalError" });
});

test("anything else is a fault of the operator's own", () => {
  expect(obstacleFrom(new TypeError("x is undefined"))).toEqual({
    reason: "InternalError",
    message: "x is undefined",
  });
  expect(obstacleFrom("words")).toMatchObject({ reason: "InternalError", message: "words" });
});
