import type { Fact } from "../fact.ts";

const table = "test/tools/table.test.ts";
const public_ = "has the tools of the public server: %s %i";

/** The tool server. */
export const tools: readonly Fact[] = [
  [311, "it speaks over stdio", "test/clients/mcp.test.ts", "the official client has a whole session over stdio"],
  [312, "it only reads", "test/tools/every-tool.test.ts", "nothing of all this has changed anything on the platform"],
  [313, "more than 100 tools", table, public_],
  [314, "six products", table, public_, "compute", "objectstorage", "dns", "billing", "cert", "activitylog"],
  [
    315,
    "HTTPS with the caller's token",
    "test/tools/sources.test.ts",
    "asks the platform over HTTPS, with the caller's",
  ],
];
