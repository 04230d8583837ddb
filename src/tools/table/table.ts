import { activityLog } from "./activity-log.ts";
import { billing } from "./billing.ts";
import { certificates } from "./certificates.ts";
import { compute } from "./compute.ts";
import { dns } from "./dns.ts";
import { k8s } from "./k8s.ts";
import { mooring } from "./mooring.ts";
import { objectStorage } from "./object-storage.ts";
import { people } from "./people.ts";
import type { Row } from "./row.ts";

export const table: readonly Row[] = [
  ...compute,
  ...k8s,
  ...objectStorage,
  ...dns,
  ...certificates,
  ...billing,
  ...activityLog,
  ...mooring,
  ...people,
];
