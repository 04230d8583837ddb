/** A fact of the platform's description, by number, and the test that proves it. */
export interface Named {
  fact: number;
  says: string;
  file: string;
  /** The test's title, or a part of it. */
  test: string;
}

export const named: readonly Named[] = [
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
    fact: 83,
    says: "volume sizes are whole GB",
    file: "test/simulator/core/compute/volumes.test.ts",
    test: "half a GB",
  },
  {
    fact: 155,
    says: "the unit of a policy counts",
    file: "test/simulator/autoscaling/policy.test.ts",
    test: "counts traffic %s: bytes a second are %i times as much",
  },
  {
    fact: 159,
    says: "deleteVolumes may be left out",
    file: "test/simulator/autoscaling/creation.test.ts",
    test: "keeps the volumes of removed replicas unless it is told otherwise",
  },
  {
    fact: 161,
    says: "replicas of AMD families",
    file: "test/simulator/autoscaling/creation.test.ts",
    test: "takes replicas of the family %s",
  },
  {
    fact: 175,
    says: "a metric pipeline tells its state in properties.status",
    file: "test/platform/products/regional.test.ts",
    test: "the state of a pipeline is read where the platform tells it: in metadata, or in its properties",
  },
  {
    fact: 189,
    says: "alert rules on pushed metrics, with targets",
    file: "test/simulator/pipelines/alerts.test.ts",
    test: "a rule on a pushed metric fires beyond its threshold, tells its target once, and resolves",
  },
  {
    fact: 197,
    says: "agents read each source where it writes",
    file: "test/kinds/observability/agents.test.ts",
    test: "each source is read where it writes, and reaches the output of its stream",
  },
  {
    fact: 204,
    says: "a log pipeline is PROVISIONING, then Ready, in properties.status",
    file: "test/cluster/kinds/interfaces.test.ts",
    test: "is not Ready before it is",
  },
  {
    fact: 205,
    says: "a pipeline takes data once it is ready",
    file: "test/simulator/pipelines/logs-described.test.ts",
    test: "refuses lines with 503 and Retry-After until it is ready, also with a new key, and not while it is changed",
  },
  {
    fact: 208,
    says: "queries reach back 30 days",
    file: "test/simulator/pipelines/logs-described.test.ts",
    test: "reaches back 30 days, whatever the retention; what is older is kept and not shown",
  },
  {
    fact: 211,
    says: "central logging brings the logs of products",
    file: "test/simulator/pipelines/logs-described.test.ts",
    test: "brings the lines of load balancers that ask for it, while it is on, and of no others",
  },
  {
    fact: 215,
    says: "the switch is written without an id",
    file: "test/platform/products/regional.test.ts",
    test: "the only resource of a region, answered without a list, is the only member",
  },
  {
    fact: 219,
    says: "logins by password, and failed ones, are recorded",
    file: "test/simulator/activity/access-entries.test.ts",
    test: "has logins by password, and those that failed",
  },
  {
    fact: 220,
    says: "reads are recorded",
    file: "test/simulator/activity/access-entries.test.ts",
    test: "has every read, of one thing or of a list, answered or refused, with what was read",
  },
  {
    fact: 221,
    says: "questions to models are recorded as data access",
    file: "test/simulator/activity/access-entries.test.ts",
    test: "has every question to a model as a read of that model, and never the words",
  },
  {
    fact: 222,
    says: "an entry names what it is about, also a token that was made",
    file: "test/simulator/activity/access-entries.test.ts",
    test: "names the token that was made",
  },
  {
    fact: 225,
    says: "the log is asked by whole days",
    file: "test/platform/activity/whole-days.test.ts",
    test: "a time is cut out of whole days where the platform knows nothing smaller",
  },
  {
    fact: 227,
    says: "no list of contracts is needed",
    file: "test/platform/activity/whole-days.test.ts",
    test: "the contract is known by the token, else by the core API, where the log names none",
  },
  {
    fact: 252,
    says: "a topic has as many copies as there are brokers for",
    file: "test/simulator/streaming/topics.test.ts",
    test: "a topic has as many copies as there are brokers for, or is refused",
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
    fact: 121,
    says: "username and password are to be discontinued",
    file: "test/controllers/accounts/login.test.ts",
    test: "is advised to move to a token, because passwords are to be discontinued",
  },
  {
    fact: 260,
    says: "a topic has as many partitions as consumers can share",
    file: "test/clients/kafka.test.ts",
    test: "has the partitions and the retention that the API was asked for, or the brokers' own",
  },
  {
    fact: 264,
    says: "unlimited retention is limited by the storage",
    file: "test/kinds/streaming/kafka-topic.test.ts",
    test: "is to keep records forever, which fills the storage of the cluster",
  },
  {
    fact: 291,
    says: "temperature is optional",
    file: "test/clients/openai/openai.test.ts",
    test: "gets a chat answer that shows the prompt, and pays for what it shows",
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
];
