import { defineConfig } from "vitest/config";
import LongestFirst from "./test/longest-first.ts";

const cluster = ["test/cluster/**/*.test.ts", "test/tenants/**/*.test.ts"];
// Start programs that have to end with their file.
const programs = ["test/cli/**/*.test.ts", "test/clients/**/*.test.ts", "test/docs/**/*.test.ts"];
// Counts every write that its API server sees, and so has one of its own.
const alone = "test/cluster/scale.test.ts";

// A test waits for something that comes: how long that may take on a busy machine is no matter.
const patient = {
  expect: { poll: { timeout: 60_000 } },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  globalSetup: ["test/temporary-files.ts"],
};

const onCluster = {
  ...patient,
  expect: { poll: { ...patient.expect.poll, interval: 200 } },
  // What is concurrent waits most of the time.
  maxConcurrency: 20,
  globalSetup: [...patient.globalSetup, "test/cluster/global-setup.ts"],
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

// The unit tests first, whose files share what they import: that halves their time. Then the files that share one control
// plane, most of which wait most of the time.
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...patient,
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...cluster, ...programs],
          isolate: false,
          maxWorkers: 2,
        },
      },
      { test: { ...patient, name: "programs", include: programs, maxWorkers: 2 } },
      {
        test: {
          ...onCluster,
          name: "cluster",
          include: cluster,
          exclude: [alone],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...onCluster, name: "alone", include: [alone], maxWorkers: 3, sequence: { groupOrder: 1 } } },
    ],
  },
});
