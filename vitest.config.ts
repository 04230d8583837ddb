import { defineConfig } from "vitest/config";

const cluster = "test/cluster/**/*.test.ts";
// Counts every write that the API server sees: nothing else may use it at the same time.
const alone = "test/cluster/scale.test.ts";

const onCluster = {
  globalSetup: "test/cluster/global-setup.ts",
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

// The unit tests first, then the files that share one control plane, most of which wait most of the time.
export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/**/*.test.ts"], exclude: [cluster], maxWorkers: 2 } },
      {
        test: {
          ...onCluster,
          name: "cluster",
          include: [cluster],
          exclude: [alone],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...onCluster, name: "alone", include: [alone], maxWorkers: 1, sequence: { groupOrder: 2 } } },
    ],
  },
});
