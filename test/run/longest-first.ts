import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes. They start first, so that they do not delay the end. */
const long = [
  "docs/commands",
  "cluster/failures/restore",
  "cluster/failures/crash",
  "cluster/life/policies",
  "cluster/failures/outages",
  "cluster/failures/faults",
  "cluster/life/whose",
  "cluster/life/destruction",
  "clients/helm",
  "clients/prometheus/alerts",
  "tenants/claims",
].map((name) => `/test/${name}.test.ts`);

/** All others keep vitest's order. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = long.findIndex((each) => moduleId.endsWith(each));
      return place < 0 ? long.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
