/** How costs can be grouped. */
export const groupings = ["namespace", "owner", "kind"] as const;
export type Grouping = (typeof groupings)[number];
