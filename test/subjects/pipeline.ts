import { ROTATE_AT } from "../../src/engine/state/names.ts";
import { readStatus } from "../../src/engine/status/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { PromisedSecret } from "../crash/lives/secrets.ts";
import { type Accepted, type AcceptedRow, type Base, bad, good, long, type Refused, someId } from "./manifests.ts";
import type { Change } from "./subject.ts";

/** The last change in the life of what has a key: a new one. */
export const rotated = (spec: object): Change => ({
  title: "rotate",
  spec,
  annotations: { [ROTATE_AT]: "first" },
  renewsKey: true,
});

/** Sends what a workload would, with what is in its Secret and nothing else. */
export async function deliver(url = "", key = "", type = "", body = ""): Promise<string | undefined> {
  const headers = { apikey: key, "content-type": type };
  const { status } = await fetch(url, { method: "POST", headers, body });
  return status === 204 ? undefined : `the platform answers ${status} to what is sent with its key`;
}

export const secretOf =
  (works: PromisedSecret["works"]) =>
  (object: KubeObject): PromisedSecret[] => [{ name: readStatus(object).secretName ?? "", works }];

const rotations: [every: string, at?: string][] = [["1h"], ["PT24H", "00:00"], ["P30D", "23:59"], ["720h30m"]];

/** Manifests that every pipeline accepts. */
export const goodKeyed = (base: Base): Accepted[] =>
  good(base, base.kind, [
    ["as small as can be", {}],
    ["a name at its longest", { name: long(20) }],
    ["a Secret of another name", { secretName: "push.access-1" }],
    ...rotations.map(
      ([every, at]): AcceptedRow => [
        `a new key every ${every}, at ${at}`,
        { keyRotation: { every, ...(at && { at }) } },
      ],
    ),
    ["taken over", { externalId: someId }],
  ]);

const rotation = (fields: object) => ({ keyRotation: { every: "24h", ...fields } });

/** Manifests that every pipeline refuses. */
export const badKeyed = (base: Base): Refused[] => [
  // The object's own name counts where spec has none.
  {
    title: `${base.kind}: an object whose name is too long for a pipeline`,
    base,
    patch: { name: null },
    says: [`metadata.name is too long for a ${base.kind}`, "at most 20 characters: set spec.name"],
    name: `${base.kind.toLowerCase()}-of-the-whole-shop`,
  },
  ...bad(base, base.kind, [
    ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
    ["a name of 21 characters", { name: long(21) }, "spec.name", "20"],
    ["observed without an id", { managementPolicy: "Observe" }, "managementPolicy Observe needs externalId"],
    ["a Secret that cannot be", { secretName: "My_Secret" }, "spec.secretName", "must be the name of an object"],
    ["a rotation without its age", { keyRotation: { at: "03:00" } }, "spec.keyRotation.every", "Required value"],
    ["a rotation every half hour", rotation({ every: "30m" }), "spec.keyRotation.every", "must be at least 1h"],
    ["a rotation every now and then", rotation({ every: "daily" }), "spec.keyRotation.every", "must be a duration"],
    ["a rotation at 24:00", rotation({ at: "24:00" }), "spec.keyRotation.at", "must be a time of day in UTC"],
    ["a rotation at three", rotation({ at: "3:00" }), "spec.keyRotation.at", "for example 03:00"],
    ["a key of one's choice", { key: "mine" }, 'unknown field "spec.key"'],
  ]),
];
