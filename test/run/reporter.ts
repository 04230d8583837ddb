import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";
import { z } from "zod";

export const countsSchema = z.object({
  passed: z.number(),
  failed: z.number(),
  /** Failures with short reasons. */
  failures: z.array(z.string()).default([]),
});

export type Counts = z.infer<typeof countsSchema>;

/** The file of the counts. test/run/run.ts sets it, and adds the counts to those of its other steps. */
export const countsVariable = "MOORING_TEST_COUNTS";

/** Counts failures completely: files that cannot be loaded, failed hooks and stray errors count too. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], strayErrors: readonly unknown[]): void {
    const counts = modules.map(count).reduce(add, {
      passed: 0,
      failed: strayErrors.length,
      failures: [],
    });
    const file = process.env[countsVariable];
    if (file) writeFileSync(file, JSON.stringify(counts));
  }
}

function count(module: TestModule): Counts {
  const tests = [...module.children.allTests()];
  const results = tests.map((test) => test.result().state);
  const groups = [module, ...module.children.allSuites()];
  return {
    passed: results.filter((state) => state === "passed").length,
    // A test without a result was aborted.
    failed:
      results.filter((state) => state === "failed" || state === "pending").length +
      groups.reduce((sum, group) => sum + group.errors().length, 0),
    failures: tests.flatMap((test) =>
      (test.result().errors ?? []).map(({ message }) => `${module.relativeModuleId} > ${test.name}\n${short(message)}`),
    ),
  };
}

/** The first part of a message. */
const short = (message: string): string =>
  message
    .split("\n")
    .slice(0, 12)
    .map((line) => `  ${line.slice(0, 240)}`)
    .join("\n");

export const add = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  failures: [...a.failures, ...b.failures],
});
