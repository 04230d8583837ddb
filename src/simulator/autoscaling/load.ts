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

/** The interval between two measurements, and the most measurements in a mean. */
const measurementInterval = 30_000;
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
  const measurements = Math.min(mostMeasurements, Math.max(1, Math.ceil(span / measurementInterval)));
  let sum = 0;
  for (let back = 0; back < measurements; back += 1) {
    const instant = at - (span * back) / measurements;
    sum += loadAt(load, instant) / (load.shared ? replicasAt(group, instant) : 1);
  }
  return (sum / measurements) * perUnit(group);
}

const seconds: Partial<Record<string, number>> = { PER_SECOND: 1, PER_MINUTE: 60, PER_HOUR: 3_600 };

/**
 * The factor from a load to the unit of the policy. A load of traffic is per second, and TOTAL is over the whole range.
 * The CPU is in percent, whatever the unit.
 */
function perUnit({ properties: { policy } }: Group): number {
  if (policy.metric === "INSTANCE_CPU_UTILIZATION_AVERAGE") return 1;
  return seconds[policy.unit] ?? millisecondsOf(policy.range) / 1000;
}

/** The metric over the range that the policy asks for. */
export const policyMetric = (world: World, group: Group, at: number) =>
  metricOf(world, group, at, millisecondsOf(group.properties.policy.range));

/** At least 1: without replicas the first one to come has the whole load. */
const replicasAt = ({ counts }: Group, instant: number) =>
  Math.max(1, counts.findLast(({ at }) => at <= instant)?.count ?? 0);

/** The group's record of its replica counts, with a new count and without those that its policy no longer needs. */
export function countsWith(group: Group, at: number, count: number): Group["counts"] {
  if (group.counts.at(-1)?.count === count) return group.counts;
  const horizon = at - millisecondsOf(group.properties.policy.range);
  const first = group.counts.findLastIndex((each) => each.at <= horizon);
  return [...group.counts.slice(Math.max(0, first)), { at, count }];
}
