import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { clientCertificate, newAuthority, serverCertificate, validFor } from "../../../src/simulator/certificates.ts";
import { listening } from "../../kube/scripted-server.ts";

const validity = validFor(Date.now(), 10);
const authority = await newAuthority("a tenant", validity);
const { certificate, privateKey } = await clientCertificate(authority, "admin", validity);
const own = await serverCertificate(authority, ["127.0.0.1"], validity);

/** The content of a KafkaUser's Secret. */
export const secret = { topic: "audit", ca: authority.certificate, certificate, privateKey };

const portOf = (url: string): number => Number(new URL(url).port);

async function opened(server: Server): Promise<{ port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  const port = portOf(await listening(server));
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Counts its connections. */
async function counting(serve: (socket: Socket) => void) {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    serve(socket);
  });
  return { connections: () => connections, ...(await opened(server)) };
}

/** Something of this machine that speaks another protocol. */
export const neighbour = () => counting((socket) => void socket.destroy());

/** A broker that takes connections and says nothing. */
export const quiet = () => counting(() => {});

/** A broker that a tenant runs. */
export const broker = (serve: (socket: TLSSocket) => void) =>
  opened(
    createTlsServer({ key: own.privateKey, cert: own.certificate }, (socket) => {
      socket.on("error", () => {});
      serve(socket);
    }),
  );

const int = (bits: 8 | 16 | 32, value: number) => {
  const bytes = Buffer.alloc(bits / 8);
  bytes.writeIntBE(value, 0, bits / 8);
  return bytes;
};
const text = (value: string) => Buffer.concat([int(8, value.length + 1), Buffer.from(value)]);
const list = (...members: Buffer[]) => Buffer.concat([int(8, members.length + 1), ...members]);
const none = int(8, 0);

const API = { produce: 0, metadata: 3, versions: 18, producer: 22 } as const;
const versions: [key: number, most: number][] = [
  [API.produce, 9],
  [API.metadata, 12],
  [API.versions, 3],
  [API.producer, 4],
];

/** The partition with this number, which the only broker leads. */
const partition = (number: number) =>
  Buffer.concat([
    ...[int(16, 0), int(32, number), int(32, 1), int(32, 0)],
    ...[list(int(32, 1)), list(int(32, 1)), list(), none],
  ]);
const topicWith = (...partitions: number[]) =>
  Buffer.concat([
    ...[int(16, 0), text(secret.topic), Buffer.alloc(16), int(8, 0)],
    ...[list(...partitions.map(partition)), int(32, 0), none],
  ]);

/** The answer to a question for metadata: the only broker, and these topics. */
const metadata = (port: number, topics: Buffer[]) =>
  Buffer.concat([
    ...[none, int(32, 0), list(Buffer.concat([int(32, 1), text("127.0.0.1"), int(32, port), none, none])), none],
    ...[int(32, 1), list(...topics), none],
  ]);

/** Topics that are not what the client looks for. */
export const misleading: [what: string, topics: Buffer[]][] = [
  ["no topic", []],
  ["a topic without partitions", [topicWith()]],
  ["a topic whose first partitions are missing", [topicWith(5)]],
];

/** A broker that names `ports` one after the other as the port of the only broker, and takes no records. */
export function naming(ports: (own: number) => number[], topics: Buffer[] = [topicWith(0)], known = versions) {
  let asked = 0;
  const answers: Record<number, (own: number) => Buffer | undefined> = {
    [API.versions]: () =>
      Buffer.concat([
        int(16, 0),
        list(...known.map(([key, most]) => Buffer.concat([int(16, key), int(16, 0), int(16, most), none]))),
        ...[int(32, 0), none],
      ]),
    [API.metadata]: (own) => metadata(ports(own)[asked++] ?? ports(own).at(-1) ?? own, topics),
    [API.producer]: () => Buffer.concat([none, int(32, 0), int(16, 0), Buffer.alloc(8, 1), int(16, 0), none]),
    [API.produce]: () => undefined,
  };
  return broker((socket) => {
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 4 && received.length >= 4 + received.readInt32BE(0)) {
        const [key, correlation] = [received.readInt16BE(4), received.subarray(8, 12)];
        received = received.subarray(4 + received.readInt32BE(0));
        const body = answers[key]?.(socket.localPort ?? 0);
        if (body) socket.write(Buffer.concat([int(32, 4 + body.length), correlation, body]));
        else socket.destroy();
      }
    });
  });
}
