import type { Fact } from "../fact.ts";

const products = "test/platform/products/addresses.test.ts";
const core = "test/platform/products/core.test.ts";
const servers = "test/simulator/core/compute/servers.test.ts";
const push = "test/simulator/ingest/metric-push.test.ts";
const pacer = "test/platform/pace/pacer.test.ts";
const gateway = "test/gateway/gateway.test.ts";
const records = "test/cli/flowlogs/records.test.ts";
const attachment = "test/kinds/compute/volume/volume-attachment.test.ts";

/** Errors, limits and versions. */
export const answers: readonly Fact[] = [
  [317, "202 is not done", core, "answers with a request that goes from BUSY to DONE and names its target"],
  [318, "401 for a bad token", "test/simulator/identity/tokens.test.ts", "refuses %s with 401", "no token", "garbage"],
  [319, "403 for another's key", push, "of another pipeline is refused with 403, that of a log pipeline with 401"],
  [
    320,
    "404 may be not ready",
    "test/platform/collections/absent-members.test.ts",
    "is not visible yet: its request is",
  ],
  [321, "a broken body is 422", "test/simulator/ingest/http-logs.test.ts", "that are no JSON are 422: %o"],
  [322, "429 may have Retry-After", "test/simulator/faults/faults.test.ts", "429 comes with Retry-After when the rule"],
  [323, "clients back off exponentially", pacer, "backs off longer with every refusal when the platform names no time"],
  [324, "clients stop trying", gateway, "end, and the client hears the platform's last word"],
  [325, "a server cannot be in ZONE_3", servers, "refuses %s", "ZONE_3"],
  [326, "200 may have empty content", gateway, "an answer without content is passed on, and counted as one"],
  [327, "SKIPDATA is incomplete", "test/cli/flowlogs/command.test.ts", "continues after bad lines and broken objects"],
  [328, "an error has code and words", "test/platform/answers/errors.test.ts", "%i %j %j", "oops"],
  [329, "100 tokens of a user", "test/simulator/identity/tokens.test.ts", "refuses the 101st token of a user"],
  [330, "24 slots of a Cube", attachment, "a Cube takes 23 volumes; the next is a problem by what the Server shows"],
  [331, "limits of groups", "test/simulator/autoscaling/bad-bodies.test.ts", "%s", "with more than 100 replicas"],
  [332, "an unknown rate limit", pacer, "finds the rate that the platform bears, and is seldom refused after that"],
  [333, "the core API is v6", products, "%s is at its version", "core"],
  [334, "tokens are v1", products, "%s is at its version", "auth"],
  [335, "the activity log is v1", products, "%s is at its version", "activity log"],
  [
    336,
    "auto scaling is v1.ea",
    "test/simulator/autoscaling/reading.test.ts",
    "works below both bases and names the early",
  ],
  [337, "inference is v1", "test/clients/openai/openai.test.ts", "lists the models and reads one"],
  [338, "records are version 2", records, "is not %j", 'version "3" is not 2'],
  [339, "an address for each API", "test/kinds/identity/account.test.ts", "knows no address but the ones given"],
];
