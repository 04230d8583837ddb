import { defineConfig } from "vitest/config";
import LongestFirst from "./test/run/longest-first.ts";

// Its operators work on all namespaces, and so have an API server of their own.
const shards = "test/cluster/failures/shards.test.ts";
const cluster = ["test/cluster/**/*.test.ts", "test/tenants/**/*.test.ts"];
// Start programs that have to end with their file, or measure their process.
const programs = [
  "test/docs/{commands,links,site}.test.ts",
  "test/cli/{help,main,setup}.test.ts",
  "test/cli/control-plane/binaries.test.ts",
  "test/cli/activity/command.test.ts",
  "test/cli/flowlogs/{command,large}.test.ts",
  shards,
  "test/kube/watch/large-metadata.test.ts",
  "test/release/start.test.ts",
  "test/clients/{dashboard,gitops,helm,kafka,kafka-secret,mcp,platform-products,setup-browser}.test.ts",
  "test/clients/{chart,prometheus}/*.test.ts",
  "test/clients/s3/versitygw.test.ts",
];
// A test waits for something that comes: how long that may take on a busy machine is no matter.
const patient = {
  expect: { poll: { timeout: 60_000 } },
  testTimeout: 180_000,
  hookTimeout: 180_000,
  globalSetup: ["test/run/temporary-files.ts"],
  setupFiles: ["test/run/end-with-file.ts"],
};

const withProgram = { ...patient, globalSetup: [...patient.globalSetup, "test/run/program.ts"] };

const onCluster = {
  ...withProgram,
  expect: { poll: { ...patient.expect.poll, interval: 200 } },
  // What is concurrent waits most of the time.
  maxConcurrency: 20,
  globalSetup: [...withProgram.globalSetup, "test/cluster/global-setup.ts"],
  testTimeout: 300_000,
  hookTimeout: 300_000,
};

// The unit tests first, whose files share what they import: that halves their time. Then the others, which wait for
// programs most of the time: five at once keep two cores busy.
const waiting = { maxWorkers: 5, sequence: { groupOrder: 1 } };

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
      { test: { ...withProgram, ...waiting, name: "programs", include: programs } },
      // Here, too, files share what they import: two seconds each.
      {
        test: { ...onCluster, ...waiting, name: "cluster", include: cluster, exclude: [shards], isolate: false },
      },
    ],
  },
});
