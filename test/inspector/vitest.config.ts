import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/inspector/*.spec.ts"],
    globalSetup: ["test/temporary-files.ts", "test/program.ts"],
    setupFiles: ["test/end-with-file.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxConcurrency: 3,
  },
});
