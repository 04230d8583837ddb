import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/kube/resource.ts";
import { createAgeLimits } from "../../../src/kube/watch/age-limits.ts";

const grant = (nth: number, second: number): KubeObject => {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1) + 1000 * second).toISOString();
  const metadata = { name: `n${String(nth).padStart(3, "0")}`, namespace: "shop", creationTimestamp };
  return { apiVersion: "mooring.dev/v1alpha1", kind: "Grant", metadata };
};

describe("objects that come and go in any order", () => {
  test("are too many exactly when as many as are allowed are older, and whoever that changes for is told", () => {
    const step = fc.record({ name: fc.integer({ min: 0, max: 11 }), at: fc.integer({ min: 0, max: 3 }) });
    const property = fc.property(fc.integer({ min: 0, max: 6 }), fc.array(step, { maxLength: 60 }), (most, steps) => {
      const present = new Map<number, KubeObject>();
      const reported = new Set<string>();
      const crowds = createAgeLimits(
        () => most,
        (kind, namespace, name) => reported.add(`${kind}/${namespace}/${name}`),
      );
      const over = () => {
        const ordered = [...present.values()].sort(
          (a, b) =>
            (a.metadata.creationTimestamp ?? "").localeCompare(b.metadata.creationTimestamp ?? "") ||
            (a.metadata.name < b.metadata.name ? -1 : 1),
        );
        return new Set(ordered.slice(most).map(({ metadata }) => metadata.name));
      };
      for (const { name, at } of steps) {
        const [before, wasOver] = [present.get(name), over()];
        reported.clear();
        if (before) {
          present.delete(name);
          crowds.note("Grant", { before });
        } else {
          const after = grant(name, at);
          present.set(name, after);
          crowds.note("Grant", { after });
        }
        const isOver = over();
        for (const object of present.values())
          expect(crowds.isOver("Grant", object)).toBe(isOver.has(object.metadata.name));
        const own = grant(name, 0).metadata.name;
        const isChanged = (each: string) => each !== own && wasOver.has(each) !== isOver.has(each);
        for (const each of [...wasOver, ...isOver].filter(isChanged))
          if (most > 0) expect(reported).toContain(`Grant/shop/${each}`);
      }
    });
    fc.assert(property, { numRuns: 300 });
  });
});
