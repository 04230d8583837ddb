import { randomUUID } from "node:crypto";
import { type Server, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../../runtime/clock.ts";
import type { Refusal } from "./callers.ts";

export interface Limits {
  sessions: number;
  /** Limit for one caller: a bearer token at an address. */
  ofOne: number;
  idleMs: number;
}

export interface Session {
  caller: string;
  transport: WebStandardStreamableHTTPServerTransport;
  server: Server;
  usedAt: number;
  /** Requests without a complete answer; an open stream counts. */
  open: number;
}

/** The sessions of all callers. */
export interface Sessions {
  begin(caller: string): Promise<Refusal | Session>;
  /** A session is valid only for the caller that began it. */
  resume(id: string, caller: string): Refusal | Session;
  /** Answers one request of a session. The session is not idle meanwhile. */
  use(session: Session, answer: (transport: Session["transport"]) => Promise<void>): Promise<void>;
  /** Ends idle sessions. */
  sweep(): void;
  count(): number;
  endAll(): void;
}

export function createSessions(options: {
  open: () => Server;
  clock: Clock;
  limits: Limits;
  maxRequestBodySize: number;
  onError: (error: unknown) => void;
}): Sessions {
  const { clock, limits, maxRequestBodySize, onError } = options;
  const sessions = new Map<string, Session>();
  /** Sessions whose first request is being read. They count as well: otherwise many at once would exceed the limits. */
  const beginning = new Set<Session>();

  const end = (id: string) => {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.server.close().catch(onError);
  };
  const sweep = () => {
    for (const [id, { usedAt, open }] of sessions) {
      if (open === 0 && clock.monotonic() - usedAt >= limits.idleMs) end(id);
    }
  };

  return {
    async begin(caller) {
      sweep();
      const known = [...sessions.values(), ...beginning];
      if (known.filter((each) => each.caller === caller).length >= limits.ofOne)
        return [429, `too many sessions: a caller has at most ${limits.ofOne}; end one, or use it again`];
      if (known.length >= limits.sessions) return [503, "too many sessions"];
      const server = options.open();
      const session: Session = {
        caller,
        server,
        usedAt: clock.monotonic(),
        open: 0,
        transport: new WebStandardStreamableHTTPServerTransport({
          sessionIdGenerator: randomUUID,
          maxRequestBodySize,
          onsessioninitialized(id) {
            beginning.delete(session);
            sessions.set(id, session);
          },
          onsessionclosed: (id) => end(id),
        }),
      };
      beginning.add(session);
      await server.connect(session.transport);
      return session;
    },
    resume(id, caller) {
      const session = sessions.get(id);
      return session?.caller === caller ? session : [404, "this session is over: begin another one"];
    },
    async use(session, answer) {
      session.open += 1;
      try {
        await answer(session.transport);
      } finally {
        session.open -= 1;
        session.usedAt = clock.monotonic();
        beginning.delete(session);
        // The request did not begin a session.
        if (session.transport.sessionId === undefined) await session.server.close();
      }
    },
    sweep,
    count: () => sessions.size,
    endAll() {
      for (const id of [...sessions.keys()]) end(id);
    },
  };
}
