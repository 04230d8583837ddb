/** Which form of the interface is served, where the platform's description and its public interface differ. */
export const interfaces = ["both", "described", "public"] as const;
export type Interface = (typeof interfaces)[number];

export interface Forms {
  readonly described: boolean;
  readonly public: boolean;
}

export const formsOf = (served: Interface): Forms => ({
  described: served !== "public",
  public: served !== "described",
});
