/** The Lease of a shard; without a name, of the operator itself. */
export const leaseOf = (shard?: string): string => (shard === undefined ? "mooring" : `mooring-${shard}`);
