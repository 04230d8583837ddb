import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "../kube/scripted-server.ts";

/** An endpoint that a tenant runs. */
export interface HostileEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Calls that arrived, as method and path. */
  readonly arrived: string[];
  /** Number of calls without an answer. */
  open(): number;
  /** Number of sent bytes. */
  sent(): number;
}

type Answer = (call: { method: string; url: URL }, response: ServerResponse) => unknown;

/** The contract that every Account reads, with these additional properties. */
export const contracts = (properties: object = {}) => ({
  items: [{ properties: { contractNumber: 1, ...properties } }],
});

/** Sends the result of `answer` as JSON; undefined: `answer` sends it itself, or never. */
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
