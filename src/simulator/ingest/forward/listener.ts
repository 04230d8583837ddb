import { once } from "node:events";
import type { Socket } from "node:net";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { authoritySchema, newAuthority, serverCertificate, validFor } from "../../certificates.ts";
import { addressOf } from "../../http/serve.ts";
import type { Documents } from "../../store/documents.ts";
import type { MachineTime } from "../../time.ts";
import type { Contracts } from "../../world.ts";
import { BrokenInput } from "./messagepack.ts";
import { createForwardSession, type ForwardSession } from "./session.ts";

/** How long a connection may take until it has shown that it knows a key. */
const handshakeWithin = 30_000;
const mostConnections = 200;
/** In days. */
const tenYears = 3650;

export interface ForwardParts {
  documents: Documents;
  machine: MachineTime;
  host: string;
  port: number;
  onError(where: string, error: unknown): void;
}

/** Where agents ship log lines by the Fluentd forward protocol: TLS, and the key of a log pipeline as shared key. */
export interface ForwardListener {
  /** Begins to listen; gives the authority that senders have to trust, as PEM. It stays the same in one data directory. */
  open(contracts: Contracts): Promise<string>;
  /** `host:port`; empty until it listens. */
  address(): string;
  close(): Promise<void>;
}

export function createForwardListener({ documents, machine, host, port, onError }: ForwardParts): ForwardListener {
  const authorities = documents.table("authorities", authoritySchema);
  const connections = new Set<Socket>();
  const hosts = [...new Set(["127.0.0.1", "::1", "localhost", host])];
  let server: Server | undefined;
  let address = "";

  async function serve(socket: TLSSocket, contracts: Contracts): Promise<void> {
    const session = createForwardSession(contracts);
    const cancel = machine.after(handshakeWithin, () => {
      if (!session.isAdmitted()) socket.destroy();
    });
    socket.on("close", cancel);
    socket.write(session.opening());
    for await (const piece of socket) {
      const { answers, ends } = taken(session, piece);
      for (const answer of answers) if (!socket.write(answer)) await once(socket, "drain");
      if (ends) return void socket.end();
    }
  }

  /**
   * A sender that breaks the protocol ends its own connection. A failure of the simulator ends it too, and is reported.
   */
  function taken(session: ForwardSession, piece: Uint8Array) {
    try {
      return session.take(piece);
    } catch (error) {
      if (!(error instanceof BrokenInput)) onError("forward protocol", error);
      return { answers: [], ends: true };
    }
  }

  return {
    address: () => address,
    async open(contracts) {
      // Certificates are judged by their readers' clocks: the machine's time, not the platform's.
      const validity = validFor(machine.now(), tenYears);
      const authority = authorities.get("forward") ?? (await newAuthority("Platform simulator CA", validity));
      documents.transaction(() => authorities.put("forward", authority));
      const { certificate, privateKey } = await serverCertificate(authority, hosts, validity);
      server = createServer({
        cert: certificate + authority.certificate,
        key: privateKey,
        handshakeTimeout: handshakeWithin,
      });
      server.maxConnections = mostConnections;
      server.on("connection", (socket: Socket) => {
        connections.add(socket);
        socket.on("close", () => connections.delete(socket));
      });
      server.on("secureConnection", (socket) => {
        socket.on("error", () => {});
        // An error here belongs to the connection, which has ended.
        serve(socket, contracts).catch(() => socket.destroy());
      });
      address = await addressOf(server, host, port);
      return authority.certificate;
    },
    async close() {
      if (server === undefined) return;
      const closed = once(server, "close");
      server.close();
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}
