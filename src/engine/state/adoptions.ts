import { z } from "zod";
import type { KubeObject } from "../../kube/resource.ts";
import { hashBody } from "../../runtime/hash.ts";
import { memo } from "../../runtime/memo.ts";
import type { Claim } from "./intent.ts";

/** By hash of the place, in groups by its first digit: a status has objects of at most a hundred fields. */
const shape = z.record(z.string(), z.record(z.string(), z.iso.datetime()));
const MOST = 100;
const adoptionsOf = memo(({ status }: KubeObject) => shape.safeParse(Object(status).adoptions).data);

function keyOf(place: string) {
  const hash = hashBody(place).slice(0, 16);
  return { group: hash.slice(0, 1), hash };
}

/** Whether the resource was adopted through one of these ClusterAccounts after the claim was made. The record outlives the object that did. */
export function isSuperseded(accounts: Iterable<KubeObject>, place: string, { adoptedAt = "" }: Claim): boolean {
  const { group, hash } = keyOf(place);
  return Iterator.from(accounts).some((account) => adoptedAt < (adoptionsOf(account)?.[group]?.[hash] ?? ""));
}

/** The part of a ClusterAccount's status that records adoptions, as a merge patch that adds one. In a full group, the oldest is dropped: `lost`. */
export function withAdoption(account: KubeObject, place: string, at: string): { status: object; lost?: string } {
  const { group, hash } = keyOf(place);
  const { [hash]: _, ...others } = adoptionsOf(account)?.[group] ?? {};
  const byAge = Object.entries(others).sort(([, a], [, b]) => b.localeCompare(a));
  const dropped = byAge.slice(MOST - 1);
  const gone = Object.fromEntries(dropped.map(([each]) => [each, null]));
  return { status: { adoptions: { [group]: { ...gone, [hash]: at } } }, ...(dropped[0] && { lost: dropped[0][1] }) };
}

/** The part of its status that the reconcile of an Account keeps. */
export const keptAdoptions = (account: KubeObject) => ({ adoptions: adoptionsOf(account) });
