import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes minutes. Begun last, each of them would keep everybody waiting. */
const long = [
  ...["restore", "crash", "policies", "scale", "outages", "faults", "whose", "destruction"].map(
    (name) => `cluster/${name}`,
  ),
  "clients/helm",
  "clients/alerts",
  "docs/commands",
  "tenants/claims",
].map((name) => `/test/${name}.test.ts`);

/** Everything else in the order that vitest has for it. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = long.findIndex((each) => moduleId.endsWith(each));
      return place < 0 ? long.length : place;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
