/** What costs are added up by. */
export const groupings = ["namespace", "owner", "kind"] as const;
export type Grouping = (typeof groupings)[number];
