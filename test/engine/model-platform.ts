/** What the scenario decides next: one of `options`, of which the first is the harmless one. */
export type Choose = <T>(first: T, ...others: T[]) => T;

export const CREATE_DEADLINE = 30_000;
export const SETTLE = 30_000;
/** As long as the settle window allows: both windows are counted from the intent. */
const LONGEST_INVISIBLE = SETTLE;

interface Resource {
  id: string;
  body: string;
  createdAt: number;
  loggedAt: number;
  visibleAt: number;
  endsAt: number;
  fails: boolean;
  deletedAt: number;
}

export type Posted = { answer: "created"; id: string } | { answer: "refused" | "slow down" | "none" };

/** What may become of a POST; "answered" always may. */
export type Fate = "answered" | "refused" | "slow down" | "answer lost" | "request lost" | "executed late";
export const EVERY_FATE: readonly Fate[] = ["refused", "slow down", "answer lost", "request lost", "executed late"];

export interface PlatformOptions {
  /** What may become of a POST instead of an answer. */
  fates?: readonly Fate[];
}

/** A platform of a few lines: creations take time, may fail, may be invisible at first; answers may be lost. */
export function modelPlatform(choose: Choose, { fates = EVERY_FATE }: PlatformOptions = {}) {
  const resources = new Map<string, Resource>();
  let now = Date.UTC(2026, 0, 1);

  const exists = ({ fails, endsAt, deletedAt }: Resource) => (!fails || now < endsAt) && now < deletedAt;
  const visible = (resource: Resource) => exists(resource) && now >= resource.visibleAt;
  const outcomeOf = ({ fails, endsAt }: Resource) => (now < endsAt ? "BUSY" : fails ? "FAILED" : "DONE");

  function make(body: string, at: number): string {
    const id = `r${resources.size}`;
    const visibleAt = at + choose(0, 1000, LONGEST_INVISIBLE, 3 * LONGEST_INVISIBLE);
    // What is in no log either is not invisible for longer than the window.
    const loggedAt = choose(at, Math.min(visibleAt, at + LONGEST_INVISIBLE));
    const endsAt = Math.max(visibleAt, at + choose(2000, 100_000));
    const fails = choose(false, true);
    resources.set(id, {
      id,
      body,
      createdAt: at,
      loggedAt,
      visibleAt,
      endsAt,
      fails,
      deletedAt: Number.POSITIVE_INFINITY,
    });
    return id;
  }

  return {
    get now() {
      return now;
    },
    advance(ms: number) {
      now += ms;
    },
    /** `leaveBy` is the last moment at which a byte of the request may leave. */
    post(body: string, leaveBy: number): Posted {
      switch (choose<Fate>("answered", ...fates)) {
        case "answered":
          return { answer: "created", id: make(body, now) };
        case "refused":
          return { answer: "refused" };
        case "slow down":
          return { answer: "slow down" };
        case "answer lost":
          make(body, now);
          return { answer: "none" };
        case "request lost":
          return { answer: "none" };
        case "executed late":
          make(body, Math.max(now, leaveBy));
          return { answer: "none" };
      }
    },
    remove(id: string): "accepted" | "lost" | "not found" {
      const resource = resources.get(id);
      if (!resource || !visible(resource)) return "not found";
      const fate = choose("accepted", "accepted, answer lost", "request lost");
      if (fate !== "request lost") resource.deletedAt = Math.min(resource.deletedAt, now + 3000);
      return fate === "accepted" ? "accepted" : "lost";
    },
    get: (id: string) => {
      const resource = resources.get(id);
      if (!resource || !visible(resource)) return undefined;
      const leaving = resource.deletedAt !== Number.POSITIVE_INFINITY;
      return { id, busy: now < resource.endsAt || leaving };
    },
    list: () => [...resources.values()].filter(visible).map(({ id }) => id),
    creation: (id: string) => {
      const resource = resources.get(id);
      return resource ? outcomeOf(resource) : "DONE";
    },
    log: (body: string, createdAfter: number) =>
      [...resources.values()]
        .filter((each) => each.body === body && each.createdAt >= createdAfter && now >= each.loggedAt)
        .map((each) => ({ id: each.id, status: outcomeOf(each) })),
    /** What really is there, seen or not. */
    truth: () => [...resources.values()].filter(exists).map(({ id }) => id),
  };
}

export type ModelPlatform = ReturnType<typeof modelPlatform>;
