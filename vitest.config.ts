import { defineConfig } from "vitest/config";

const cluster = "test/cluster/**/*.test.ts";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [cluster],
          maxWorkers: 2,
          testTimeout: 30_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: "cluster",
          include: [cluster],
          globalSetup: "test/cluster/global-setup.ts",
          // One control plane serves all these files, and the machine: one file at a time, after the unit tests.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 60_000 } },
        },
      },
    ],
  },
});
