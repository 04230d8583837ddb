import type { Contracts } from "../contracts.ts";
import { type Properties, textIn } from "../store/resource.ts";

/** The contract whose flow logs use a bucket: whose it is, where the storage itself does not know. */
export function bucketUser(contracts: Contracts, bucket: string): number | undefined {
  const usesIt = ({ properties }: { properties: Properties }) => textIn(properties, "bucket")?.split("/")[0] === bucket;
  return contracts
    .all()
    .find(({ viewer, resources }) => viewer.asPlatform(() => [...resources.ofType("flow-log")].some(usesIt)))
    ?.contractNumber;
}
