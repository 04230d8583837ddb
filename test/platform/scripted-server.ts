import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export interface Arrived {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Script = (arrived: Arrived, response: ServerResponse, request: IncomingMessage) => void;

/** A platform that behaves as the test says, on a free port. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly arrived: Arrived[];
  /** Number of opened sockets. */
  readonly sockets: number;
  script: Script;
  /** Resolves when the n-th request (from 1) has arrived. */
  arrival(n: number): Promise<Arrived>;
}

export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const arrived: Arrived[] = [];
  const waiting: { n: number; resolve: (arrived: Arrived) => void }[] = [];
  let sockets = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      arrived.push(one);
      for (const { n, resolve } of waiting) if (n === arrived.length) resolve(one);
      scripted.script(one, response, request);
    });
  });
  server.on("connection", () => {
    sockets += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const scripted: ScriptedServer = {
    url: `http://127.0.0.1:${address.port}`,
    arrived,
    get sockets() {
      return sockets;
    },
    script,
    arrival: (n) =>
      new Promise((resolve) => {
        const already = arrived[n - 1];
        if (already) resolve(already);
        else waiting.push({ n, resolve });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return scripted;
}

/** Answers with a status, a JSON body and headers. */
export function answer(status: number, body?: unknown, headers: Record<string, string> = {}): Script {
  return (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
  };
}
