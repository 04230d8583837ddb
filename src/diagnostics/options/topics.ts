/** What can stand in spec, by topic. */
export const topics = ["locations", "cpu-families", "images", "templates", "kafka-sizes", "models"] as const;
export type Topic = (typeof topics)[number];
