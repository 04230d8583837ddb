import type { Fact } from "../fact.ts";

const creation = "test/simulator/autoscaling/creation.test.ts";
const refused = "test/simulator/autoscaling/bad-bodies.test.ts";
const policy = "test/simulator/autoscaling/policy.test.ts";
const changes = "test/simulator/autoscaling/changes.test.ts";
const kind = "test/kinds/compute/scaling-group/scaling-group.test.ts";
const onPlatform = "test/kinds/compute/scaling-group/on-platform.test.ts";

/** Auto scaling. */
export const scaling: readonly Fact[] = [
  [147, "a group has a datacenter", creation, "answers 201 with the group, BUSY, and the action that has started"],
  [148, "a group has a name", refused, "%s", "without a name"],
  [149, "at least one replica", refused, "%s", "with no replica at least"],
  [150, "100 replicas are recommended", kind, "and not wise: more than 100 replicas"],
  [151, "the metric of the CPU", creation, "takes the metric INSTANCE_%s", "CPU_UTILIZATION_AVERAGE"],
  [
    152,
    "the metrics of traffic",
    creation,
    "takes the metric INSTANCE_%s",
    "NETWORK_IN_BYTES",
    "NETWORK_IN_PACKETS",
    "NETWORK_OUT_BYTES",
    "NETWORK_OUT_PACKETS",
  ],
  [153, "the range is an ISO 8601 duration", "test/kinds/fields/duration.test.ts", "takes %s"],
  [154, "a threshold of the CPU is a percentage", kind, "and not wise: %s", "a rate of the CPU"],
  [155, "the unit counts", policy, "counts traffic %s: bytes a second are %i times as much"],
  [156, "an action has an amount", policy, "adds and removes as many replicas as the action says"],
  [157, "or a percentage", policy, "adds a percentage of the present count: %s"],
  [158, "the cooldown is 5 minutes by default", creation, "fills in range and cooldown that were left out"],
  [159, "deleteVolumes may be left out", creation, "keeps the volumes of removed replicas unless it is told otherwise"],
  [160, "replicas have cores and RAM", refused, "%s", "with 63 cores", "with RAM between the steps"],
  [161, "replicas of AMD families", creation, "takes replicas of the family %s", "AMD_EPYC", "AMD_TURIN"],
  [162, "replicas have a zone", creation, "takes replicas with %o", "AUTO", "ZONE_1", "ZONE_2"],
  [163, "replicas have a NIC", creation, "makes the least number of servers; then the group is AVAILABLE"],
  [164, "replicas have a volume", onPlatform, "takes a change of %s, once, and back", "first-boot data"],
  [165, "types of volumes", creation, "takes volumes of type %s and repeats it", "HDD", "SSD Standard", "SSD Premium"],
  [166, "nothing that runs is resized", changes, "of the replica configuration touches new replicas only"],
  [167, "changes are for new replicas", changes, "of the replica configuration touches new replicas only"],
  [168, "replicas are servers", onPlatform, "consists of servers of its datacenter, whose names are not their ids"],
  [169, "names are no ids", creation, "makes the least number of servers; then the group is AVAILABLE"],
  [
    170,
    "replicas join a load balancer",
    "test/simulator/autoscaling/replicas.test.ts",
    "joins the target group of its NIC",
  ],
  [
    171,
    "groups are listed",
    "test/simulator/autoscaling/reading.test.ts",
    "lists references, and items from depth 1 on",
  ],
  [172, "POST gives the group", creation, "answers 201 with the group, BUSY, and the action that has started"],
  [173, "it scales by itself", policy, "lets a group grow to its maximum under a ramp"],
];
