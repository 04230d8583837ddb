import { millisecondsOf } from "../records/scaling/duration.ts";
import { type Load, loadKey } from "../records/scaling/load-record.ts";
import type { Group } from "../records/scaling/records.ts";
import type { World } from "../world.ts";

function loadAt({ shape, since }: Load, at: number): number {
  const elapsed = Math.max(0, at - since) / 1000;
  switch (shape.type) {
    case "constant":
      return shape.value;
    case "ramp":
      return shape.from + (shape.to - shape.from) * Math.min(1, elapsed / shape.seconds);
    case "sine":
      return Math.max(0, shape.mean + shape.amplitude * Math.sin((2 * Math.PI * elapsed) / shape.seconds));
  }
}

/** How often the platform measures, and how many measurements it looks at for the longest ranges. */
const measureEvery = 30_000;
const mostMeasurements = 240;

/**
 * The metric of a group's policy as a mean over the last `range` milliseconds, or since the load or the group began;
 * 0 asks for the present value. It follows from the load and the number of replicas at each moment, so nothing is
 * recorded while time passes. Without a load it lies in the middle between the thresholds: nothing happens.
 */
export function metricOf(world: World, group: Group, at: number, range: number): number {
  const { metric, scaleInThreshold, scaleOutThreshold } = group.properties.policy;
  const { loads } = world.scaling;
  const load = loads.get(loadKey({ groupId: group.id, metric })) ?? loads.get(loadKey({ groupId: null, metric }));
  if (load === undefined) return (scaleInThreshold + scaleOutThreshold) / 2;
  const span = at - Math.min(at, Math.max(at - range, load.since, group.createdAt));
  const measurements = Math.min(mostMeasurements, Math.max(1, Math.ceil(span / measureEvery)));
  let sum = 0;
  for (let back = 0; back < measurements; back += 1) {
    const instant = at - (span * back) / measurements;
    sum += loadAt(load, instant) / (load.shared ? replicasAt(group, instant) : 1);
  }
  return (sum / measurements) * perUnit(group);
}

const seconds: Partial<Record<string, number>> = { PER_SECOND: 1, PER_MINUTE: 60, PER_HOUR: 3_600 };

/** Traffic is steered per second and counted in the unit of the policy; TOTAL is all of its range. The CPU is in percent, whatever the unit. */
function perUnit({ properties: { policy } }: Group): number {
  if (policy.metric === "INSTANCE_CPU_UTILIZATION_AVERAGE") return 1;
  return seconds[policy.unit] ?? millisecondsOf(policy.range) / 1000;
}

/** The metric over the range that the policy asks for. */
export const policyMetric = (world: World, group: Group, at: number) =>
  metricOf(world, group, at, millisecondsOf(group.properties.policy.range));

/** A load on a group without replicas falls on the first that comes. */
const replicasAt = ({ counts }: Group, instant: number) =>
  Math.max(1, counts.findLast(({ at }) => at <= instant)?.count ?? 0);

/** The group's record of how many replicas are up, without what lies further back than its policy looks. */
export function countsWith(group: Group, at: number, count: number): Group["counts"] {
  if (group.counts.at(-1)?.count === count) return group.counts;
  const horizon = at - millisecondsOf(group.properties.policy.range);
  const first = group.counts.findLastIndex((each) => each.at <= horizon);
  return [...group.counts.slice(Math.max(0, first)), { at, count }];
}
