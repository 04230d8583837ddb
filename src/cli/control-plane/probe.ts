import { readFileSync } from "node:fs";
import { get } from "node:https";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

export interface Target {
  server: string;
  /** The CA certificate of the server; may not exist yet. */
  certificate: string;
  token: string;
}

/** Waits until every path answers 200. */
export async function untilServed(target: Target, paths: readonly string[], signal: AbortSignal): Promise<void> {
  for (const path of paths) {
    while (!(await isServed(target, path, signal))) await delay(50, undefined, { signal });
  }
}

const answerMs = 5000;

function isServed({ server, certificate, token }: Target, path: string, until: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const signal = AbortSignal.any([until, AbortSignal.timeout(answerMs)]);
      const headers = { authorization: `Bearer ${token}` };
      const request = get(new URL(path, server), { ca: readFileSync(certificate), headers, signal }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.once("error", () => resolve(false));
    } catch {
      resolve(false);
    }
  });
}

/** A free loopback port, `preferred` if possible. Another process may still take it before it is used. */
export function freePort(preferred = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => (preferred === 0 ? reject(error) : resolve(freePort())));
    server.listen(preferred, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
