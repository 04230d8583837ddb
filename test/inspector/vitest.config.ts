import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/inspector/*.spec.ts"],
    globalSetup: ["test/run/temporary-files.ts", "test/run/program.ts"],
    setupFiles: ["test/run/end-with-file.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxConcurrency: 3,
  },
});
