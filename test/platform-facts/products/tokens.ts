import type { Fact } from "../fact.ts";

const tokens = "test/simulator/identity/tokens.test.ts";
const metrics = "test/simulator/pipelines/metric-pipelines.test.ts";
const push = "test/simulator/ingest/metric-push.test.ts";
const openai = "test/clients/openai/openai.test.ts";
const accessToken = "test/kinds/identity/access-token.test.ts";

/** Tokens, keys and other credentials. */
export const tokensAndKeys: readonly Fact[] = [
  [118, "a password makes a token", tokens, "answers Basic credentials with a signed JWT"],
  [119, "one token for all hosts", "test/simulator/process/hosts.test.ts", "%s takes a token that was generated"],
  [120, "the core API takes passwords", tokens, "takes Basic credentials on %s", "the core API"],
  [
    121,
    "username and password are to be discontinued",
    "test/controllers/accounts/login.test.ts",
    "is advised to move to a token, because passwords are to be discontinued",
  ],
  [
    123,
    "with two factors only tokens",
    tokens,
    "refuses Basic credentials of an account with two-factor authentication",
  ],
  [124, "a token makes a token", tokens, "answers a bearer token as well"],
  [125, "the activity log takes passwords", tokens, "takes Basic credentials on %s", "the activity log"],
  [126, "a metric pipeline needs a token", metrics, "comes with a bearer token: nothing else is taken"],
  [127, "and a privilege", metrics, "needs the privilege of monitoring; that of logging is not enough"],
  [128, "a push has APIKEY", push, "comes as APIKEY or as bearer token"],
  [129, "Fluent Bit has a bearer token", "test/kinds/observability/agents.test.ts", "Fluent Bit writes over %s"],
  [130, "a wrong key is 401 or 403", push, "is needed: 401 without it, with a wrong one"],
  [131, "a log pipeline needs a privilege", "test/simulator/pipelines/log-pipelines.test.ts", "needs the privilege of"],
  [132, "forwarding has a shared key", "test/clients/fluent-forward.test.ts", "is refused with a wrong key"],
  [
    133,
    "the switch is for few",
    "test/simulator/pipelines/central-logging.test.ts",
    "is switched by owner, administrators",
  ],
  [
    134,
    "flow logs need a privilege",
    "test/simulator/flow-logs/flow-log-resources.test.ts",
    "needs the privilege to create",
  ],
  [135, "buckets have their own keys", "test/clients/s3/s3.test.ts", "is refused with a wrong secret"],
  [
    136,
    "streaming needs a token",
    "test/simulator/streaming/clusters.test.ts",
    "is any user with a bearer token, and nobody",
  ],
  [137, "brokers need a certificate", "test/clients/kafka.test.ts", "accept a client with the certificate, and none"],
  [
    138,
    "inference needs a token that ends",
    openai,
    "a token that has expired or was never one is AuthenticationError",
  ],
  [139, "after which every call fails", openai, "a token that has expired or was never one is AuthenticationError"],
  [
    140,
    "tools have the caller's token",
    "test/tools/sources.test.ts",
    "goes on with a token that was renewed in its file",
  ],
  [141, "at most 100 tokens", tokens, "refuses the 101st token of a user"],
  [142, "nine lifetimes", accessToken, "lives for %s", "1h", "4h", "1d", "7d", "30d", "60d", "90d", "180d", "365d"],
  [143, "chosen at creation", accessToken, "lives for a week unless spec says otherwise"],
  [144, "a token is shown once", accessToken, "is in the answer to its creation and nowhere else"],
  [146, "a key is shown once", metrics, "is in no answer but the one that makes it, and not in the state"],
];
