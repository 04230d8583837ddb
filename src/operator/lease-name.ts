/** The name of a shard's Lease; without a shard, of the operator's own. */
export const leaseOf = (shard?: string): string => (shard === undefined ? "mooring" : `mooring-${shard}`);
