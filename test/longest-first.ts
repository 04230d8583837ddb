import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that take minutes. They start first, so that they do not delay the end. */
const long = [
  ...["restore", "crash", "policies", "scale", "outages", "faults", "whose", "destruction"].map(
    (name) => `cluster/${name}`,
  ),
  "clients/helm",
  "clients/alerts",
  "docs/commands",
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
