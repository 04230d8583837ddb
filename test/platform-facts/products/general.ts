import type { Fact } from "../fact.ts";

const hosts = "test/simulator/process/hosts.test.ts";
const products = "test/platform/products/addresses.test.ts";
const metrics = "test/simulator/pipelines/metric-pipelines.test.ts";
const logs = "test/simulator/pipelines/log-pipelines.test.ts";
const clusters = "test/simulator/streaming/clusters.test.ts";
const access = "test/engine/execute/inference-access.test.ts";
const openai = "test/clients/openai/openai.test.ts";
const policy = "test/simulator/autoscaling/policy.test.ts";
const project = "test/contributing.test.ts";

/** The parts of the platform, and the parts of this project. */
export const general: readonly Fact[] = [
  [1, "four APIs below one address", products, "%s is at its version", "core", "auth", "autoscaling", "activity log"],
  [2, "metrics have an address by region", metrics, "stands in the ready line, with a place for the region"],
  [3, "logs have an address by region", logs, "answers 201 with the key and the addresses, PROVISIONING"],
  [4, "streaming has an address by region", clusters, "is told in the ready line, where to find"],
  [5, "regions side by side", "test/controllers/accounts/account-endpoints.test.ts", "one Secret serves two regions"],
  [6, "inference has an address, and paths below /v1", access, "has a token there with the address and its models"],
  [7, "object storage speaks S3", "test/clients/s3/s3.test.ts", "makes, finds, locates and deletes a bucket"],
  [8, "bodies are JSON", "test/simulator/process/robustness.test.ts", "that are not JSON by their type are 415"],
  [9, "the core API is a tree", "test/simulator/process/every-path.test.ts", "%s answers"],
  [10, "writes are asynchronous", "test/simulator/core/requests.test.ts", "goes from BUSY to DONE, with its targets"],
  [11, "a token is for all hosts", hosts, "%s takes a token that was generated"],
  [12, "groups scale by metrics", policy, "lets a group grow to its maximum under a ramp"],
  [
    13,
    "auto scaling is for non-production workloads",
    "test/kinds/compute/scaling-group/scaling-group.test.ts",
    "and nothing against %o but that the service is early access",
  ],
  [14, "a pipeline has an endpoint and a dashboard", metrics, "answers 201 with the key, PROVISIONING, and everything"],
  [15, "one dashboard per contract and region", "test/simulator/pipelines/dashboard.test.ts", "is one per contract"],
  [16, "agents send logs", "test/clients/fluent-forward.test.ts", "ships lines in the mode %s"],
  [
    17,
    "load balancers forward their logs to central logging",
    "test/simulator/pipelines/logs-described.test.ts",
    "brings the lines of load balancers that ask for it, while it is on",
  ],
  [18, "the activity log is read-only", "test/simulator/activity/activity.test.ts", "takes no call but GET"],
  [
    19,
    "flow logs go to buckets",
    "test/simulator/flow-logs/flow-log-objects.test.ts",
    "come every ten minutes, named by",
  ],
  [20, "clusters have server version 4.0.0", clusters, "is DEPLOYING, not to be seen at first, and AVAILABLE"],
  [21, "clients use mutual TLS", "test/clients/kafka-secret.test.ts", "a Node client, with its PEM files"],
  [22, "language, embedding and image models", openai, "lists the models and reads one"],
  [
    23,
    "tokens are billed",
    "test/simulator/billing/tokens.test.ts",
    "tokens are billed by model and direction, per million, at the prices that the catalogue tells",
  ],
  [24, "DNS, certificates and billing", hosts, "%s takes a token that", "DNS", "certificates", "billing"],
  [
    25,
    "provisioning takes time",
    "test/simulator/core/requests.test.ts",
    "makes a %s that is 404 until it can be seen",
  ],
  [340, "the packages", "test/dependencies.test.ts", "the packages that everything is built on are there"],
  [341, "the folders and files", project, "the repository has what its parts are named after"],
  [342, "seven kinds above all", "test/subjects/coverage.test.ts", "the kinds that users ask for first are there"],
  [
    343,
    "status says BUSY",
    "test/engine/status/status.test.ts",
    "says BUSY as soon as the platform has accepted the creation",
  ],
  [344, "keys are in Secrets", "test/engine/secrets/keys.test.ts", "is in the Secret before the claim is on record"],
  [
    345,
    "certificates are in Secrets",
    "test/engine/secrets/certificate-secret.test.ts",
    "is in the Secret together with everything that clients ask for",
  ],
  [346, "it is installed with Helm", "test/clients/helm.test.ts", "of the version before is upgraded"],
];
