/** Topics of valid values for spec. */
export const topics = ["locations", "cpu-families", "images", "templates", "kafka-sizes", "models"] as const;
export type Topic = (typeof topics)[number];
