import type { Fact } from "../fact.ts";

const log = "test/simulator/activity/activity.test.ts";
const accesses = "test/simulator/activity/access-entries.test.ts";
const wholeDays = "test/platform/activity/whole-days.test.ts";

/** The activity log. */
export const activity: readonly Fact[] = [
  [216, "it has what is made", log, "has every write and every step of its provisioning"],
  [217, "it has what is changed", log, "has changes and deletions, each with what it is about"],
  [218, "it has what is deleted", log, "has changes and deletions, each with what it is about"],
  [219, "it has logins by password, and failed ones", accesses, "has logins by password, and those that failed"],
  [220, "it has reads", accesses, "has every read, of one thing or of a list, answered or refused"],
  [221, "it has questions to models", accesses, "has every question to a model as a read of that model"],
  [222, "an entry names what it is about, also a token", accesses, "names the token that was made"],
  [223, "hits.total and hits.hits", log, "is paged by 20 unless asked otherwise, until an empty page"],
  [224, "four fields of an entry", log, "has every write and every step of its provisioning, in both forms"],
  [225, "it is asked by whole days", wholeDays, "a time is cut out of whole days where the platform knows nothing"],
  [226, "limit and offset", log, "is paged by 20 unless asked otherwise, until an empty page, oldest first"],
  [227, "no list of contracts is needed", wholeDays, "the contract is known by the token, else by the core API"],
  [228, "without a contract, the version", log, "tells its version, and the contract of the caller"],
  [229, "every call is a GET", log, "takes no call but GET"],
  [
    230,
    "pages until one is empty",
    "test/platform/activity/export.test.ts",
    "has the entries in the order of their time",
  ],
  [231, "35 days", log, "keeps 35 days of the platform's own time"],
];
