import type { Named } from "./named.ts";
import { products } from "./product-tests.ts";

export const named: readonly Named[] = [
  {
    fact: 8,
    says: "bodies are JSON",
    file: "test/simulator/process/robustness.test.ts",
    test: "that are not JSON by their type are 415",
  },
  {
    fact: 13,
    says: "auto scaling is for non-production workloads",
    file: "test/kinds/compute/scaling-group/scaling-group.test.ts",
    test: "and nothing against %o but that the service is early access",
  },
  {
    fact: 17,
    says: "load balancers forward their logs to central logging",
    file: "test/simulator/pipelines/logs-described.test.ts",
    test: "brings the lines of load balancers that ask for it, while it is on, and of no others",
  },
  {
    fact: 23,
    says: "tokens are billed",
    file: "test/simulator/billing/tokens.test.ts",
    test: "tokens are billed by model and direction, per million, at the prices that the catalogue tells",
  },
  {
    fact: 24,
    says: "DNS is part of the platform",
    file: "test/simulator/managed/dns.test.ts",
    test: "is PROVISIONING, then AVAILABLE, and tells its name servers",
  },
  {
    fact: 31,
    says: "a location is a country and a site",
    file: "test/kinds/compute/datacenter.test.ts",
    test: "is not tried with a location that is none",
  },
  {
    fact: 46,
    says: "a page shorter than the limit is the last",
    file: "test/platform/products/paging.test.ts",
    test: "of %i items takes %i pages",
  },
  {
    fact: 83,
    says: "volume sizes are whole GB",
    file: "test/simulator/core/compute/volumes.test.ts",
    test: "half a GB",
  },
  {
    fact: 86,
    says: "an image is named by its id, which a lookup finds",
    file: "test/kinds/fields/images.test.ts",
    test: "is the image that was found",
  },
  {
    fact: 291,
    says: "temperature is optional",
    file: "test/clients/openai/openai.test.ts",
    test: "gets a chat answer that shows the prompt, and pays for what it shows",
  },
  {
    fact: 292,
    says: "an answer without max_tokens is whole",
    file: "test/clients/openai/openai.test.ts",
    test: "gets a whole answer unless it asks for less, ends at a stop word, and has as many choices as it wants",
  },
  {
    fact: 295,
    says: "a strict schema is kept",
    file: "test/simulator/inference/inference-schema.test.ts",
    test: "is one that the schema accepts, whatever the prompt, and the same each time",
  },
  {
    fact: 296,
    says: "schemas may have pattern, allOf and not",
    file: "test/simulator/inference/inference-schema.test.ts",
    test: "keeps the pattern %s",
  },
  {
    fact: 321,
    says: "a broken body is 422",
    file: "test/simulator/ingest/http-logs.test.ts",
    test: "that are no JSON are 422: %o",
  },
  {
    fact: 322,
    says: "429 may have Retry-After",
    file: "test/simulator/faults/faults.test.ts",
    test: "429 comes with Retry-After when the rule has one",
  },
  {
    fact: 323,
    says: "clients back off exponentially",
    file: "test/platform/pace/pacer.test.ts",
    test: "backs off longer with every refusal when the platform names no time",
  },
  {
    fact: 325,
    says: "a server cannot be in ZONE_3",
    file: "test/simulator/core/compute/volumes.test.ts",
    test: "takes ZONE_3, unlike a server",
  },
  {
    fact: 326,
    says: "200 may have empty content",
    file: "test/gateway/gateway.test.ts",
    test: "an answer without content is passed on, and counted as one",
  },
  {
    fact: 329,
    says: "a user has at most 100 tokens",
    file: "test/simulator/identity/tokens.test.ts",
    test: "refuses the 101st token of a user, and gives one again after a deletion",
  },
  {
    fact: 330,
    says: "a Cube has 24 device slots",
    file: "test/kinds/compute/volume/volume-attachment.test.ts",
    test: "a Cube takes 23 volumes; the next is a problem by what the Server shows, and refused",
  },
  {
    fact: 331,
    says: "auto scaling has limits",
    file: "test/simulator/autoscaling/bad-bodies.test.ts",
    test: "with more than 100 replicas",
  },
  {
    fact: 341,
    says: "the parts that the repository has",
    file: "test/release/artifacts.test.ts",
    test: "leaves nothing of the Dockerfile's last stage out",
  },
  {
    fact: 346,
    says: "it is installed with Helm",
    file: "test/clients/helm.test.ts",
    test: "of the version before is upgraded, makes the samples Ready with its own rights, and leaves them when it goes",
  },
  ...products,
];
