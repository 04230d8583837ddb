/** Speed of the platforms relative to real time. */
export const SPEED = 20;

/** Maximum age of an answer in real seconds. */
export const STALE_SECONDS = 1.5;

/**
 * About one call in four fails. Faults that no operator could handle are left out: a write that the platform itself
 * executes twice, and a revoked token. 429 is rare, because each one halves the rate.
 */
export const trouble = [
  { fault: "response-lost", probability: 0.035 },
  { fault: "request-lost", probability: 0.035 },
  { fault: "reset", probability: 0.035 },
  { fault: "hang", seconds: 4, executed: true, probability: 0.01 },
  { fault: "hang", seconds: 4, probability: 0.01 },
  { fault: "status", status: 429, retryAfter: 1, probability: 0.0007 },
  { fault: "status", status: 429, probability: 0.0003 },
  { fault: "status", status: 500, probability: 0.027 },
  { fault: "status", status: 503, probability: 0.027 },
  { fault: "slow", seconds: 0.5, probability: 0.02 },
  { route: "POST *", fault: "late-visibility", seconds: 2 * SPEED, probability: 0.2 },
  { route: "POST *", fault: "request-failed", probability: 0.03 },
  { route: "* *", fault: "slow-provisioning", factor: 3, probability: 0.05 },
  { route: "GET *", fault: "missing-item", seconds: SPEED, probability: 0.03 },
  { route: "GET *", fault: "stale", seconds: STALE_SECONDS * SPEED, probability: 0.05 },
  { route: "GET *", fault: "shallow", probability: 0.06 },
  { route: "GET *", fault: "shallow", leavesOut: "properties", probability: 0.04 },
  { route: "GET *", fault: "clock-skew", seconds: 60, probability: 0.03 },
  { fault: "date-header", seconds: 3600, probability: 0.02 },
  { fault: "date-header", seconds: -3600, probability: 0.02 },
  { fault: "404-everything", probability: 0.01 },
  { route: "GET *", fault: "404-everything", body: "platform", probability: 0.01 },
  { route: "GET *", fault: "empty-lists", single: true, probability: 0.02 },
  { route: "DELETE *", fault: "hidden-while-deleting", probability: 0.2 },
  { route: "PATCH *", fault: "accepted-not-done", probability: 0.03 },
  { route: "POST *", fault: "held-connection", seconds: 4, probability: 0.01 },
  { route: "POST *", fault: "held-connection", seconds: 4, resetDrops: true, probability: 0.01 },
];

/** Even in the worst case, a new resource is visible within this time. */
export const patience = ["--settle", "5s", "--resync", "10s", "--allow-endpoint", "https://*.example.com"];
export const RESYNC_MS = 10_000;
