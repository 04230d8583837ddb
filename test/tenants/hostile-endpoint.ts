import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "../kube/scripted-server.ts";

/** An endpoint of a tenant's own. */
export interface HostileEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Calls that arrived, as method and path. */
  readonly arrived: string[];
  /** How many of them wait for an answer now. */
  open(): number;
  /** What was sent, in bytes. */
  sent(): number;
}

type Answer = (call: { method: string; url: URL }, response: ServerResponse) => unknown;

/** The contract that every Account asks for, with whatever else is to be in it. */
export const contracts = (properties: object = {}) => ({
  items: [{ properties: { contractNumber: 1, ...properties } }],
});

/** Answers what `answer` returns as JSON; undefined: the answer is `answer`'s own matter, or never comes. */
export async function hostileEndpoint(answer: Answer): Promise<HostileEndpoint> {
  const arrived: string[] = [];
  let sent = 0;
  let open = 0;
  const server = createServer((request: IncomingMessage, response) => {
    const { method = "", url: path = "/" } = request;
    const url = new URL(path, "http://tenant");
    arrived.push(`${method} ${url.pathname}`);
    open += 1;
    const { socket } = request;
    const before = socket.bytesWritten;
    response.on("close", () => {
      open -= 1;
      sent += socket.bytesWritten - before;
    });
    const body = answer({ method, url }, response);
    if (body !== undefined) response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  return {
    url: await listening(server),
    arrived,
    open: () => open,
    sent: () => sent,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
