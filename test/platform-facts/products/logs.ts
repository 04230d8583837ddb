import type { Fact } from "../fact.ts";

const pipelines = "test/simulator/pipelines/log-pipelines.test.ts";
const described = "test/simulator/pipelines/logs-described.test.ts";
const http = "test/simulator/ingest/http-logs.test.ts";
const central = "test/simulator/pipelines/central-logging.test.ts";
const agents = "test/kinds/observability/agents.test.ts";

/** Log pipelines and central logging. */
export const logs: readonly Fact[] = [
  [194, "a pipeline has a name", pipelines, "refuses a name that is missing or longer than 20 characters"],
  [195, "at most five streams", pipelines, "refuses %s and names the field", "six streams"],
  [196, "five sources", pipelines, "takes all sources, and http as another word for generic over HTTP"],
  [197, "agents read each source where it writes", agents, "each source is read where it writes"],
  [198, "HTTP is JSON only", http, "as %s are 415", "text/plain"],
  [199, "a stream has a tag", pipelines, "refuses %s and names the field", "no tag", "a tag twice"],
  [200, "and a protocol", pipelines, "refuses %s and names the field", "no protocol", "an unknown protocol"],
  [201, "four retentions", pipelines, "takes the retention given %s", "directly", "in both", "as unlimited"],
  [202, "30 days by default", pipelines, "takes the retention given %s and shows both spellings", "not at all"],
  [203, "the retention is kept", http, "are gone when the retention of their log is over"],
  [204, "Ready when it says so", "test/cluster/kinds/interfaces.test.ts", "is not Ready before it is"],
  [
    205,
    "a pipeline takes data once it is ready",
    described,
    "refuses lines with 503 and Retry-After until it is ready",
  ],
  [206, "a pipeline tells where to send", pipelines, "answers 201 with the key and the addresses, PROVISIONING"],
  [207, "port 9000, TLS, shared key", agents, "Fluent Bit forwards each stream over TLS with the shared key, to port"],
  [208, "queries reach back 30 days", described, "reaches back 30 days, whatever the retention"],
  [209, "a switch per region", central, "is one per region"],
  [210, "which has one field", central, "does not take %o for a switch"],
  [211, "it brings the logs of products", described, "brings the lines of load balancers that ask for it"],
  [212, "on and off", "test/kinds/observability/central-logging.test.ts", "switches it on and off"],
  [213, "POST /pipelines", pipelines, "answers 201 with the key and the addresses, PROVISIONING, then Ready"],
  [214, "DELETE of a pipeline", pipelines, "answers 202 with the pipeline DESTROYING, and then it is gone"],
  [215, "PUT /central has no id", "test/kinds/observability/central-logging.test.ts", "by a path without one"],
];
