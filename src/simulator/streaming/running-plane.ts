import type { Contracts } from "../contracts.ts";
import { type DataPlane, done, networkAddresses } from "./data-plane.ts";

/** Brokers with their life. */
export interface RunningPlane extends DataPlane {
  /** Begins to follow. Once, when the state of an earlier run is there. */
  open(contracts: Contracts): Promise<void>;
  close(): Promise<void>;
}

/** No brokers at all; the management API behaves as with them. */
export const noDataPlane: RunningPlane = {
  brokers: 3,
  clusterProgress: () => done,
  topicProgress: () => done,
  addressesOf: networkAddresses,
  noticeOf: () => undefined,
  open: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
