import { autoCertificateKind, certificateKind, providerKind } from "./certificate-manager/kinds.ts";
import { recordKind, reverseRecordKind, secondaryZoneKind, zoneKind } from "./dns/kinds.ts";
import type { Managed } from "./managed/kind.ts";
import { resume } from "./managed/lifecycle.ts";
import { managedState } from "./managed/view.ts";
import { accessKeyKind } from "./object-storage-management/access-keys.ts";
import { logPipelineKind, metricPipelineKind } from "./pipelines/kinds.ts";
import { clusterKind, topicKind } from "./streaming/kinds.ts";
import type { World } from "./world.ts";

const entry = <F>(name: string, kind: Managed<F>) => ({
  /** The name of the list in `GET /_simulator/state`. */
  name,
  state: (world: World) => managedState(world, kind),
  resume: (world: World) => resume(world, kind),
});

/** All kinds of the managed services. */
export const managed = [
  entry("zones", zoneKind),
  entry("records", recordKind),
  entry("secondaryZones", secondaryZoneKind),
  entry("reverseRecords", reverseRecordKind),
  entry("certificates", certificateKind),
  entry("autoCertificates", autoCertificateKind),
  entry("providers", providerKind),
  entry("accessKeys", accessKeyKind),
  entry("metricPipelines", metricPipelineKind),
  entry("logPipelines", logPipelineKind),
  entry("streamingClusters", clusterKind),
  entry("streamingTopics", topicKind),
];
