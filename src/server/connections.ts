import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The address of a client, as far as the network shows it. */
export const peerOf = ({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string =>
  remoteAddress.replace(/^::ffff:/, "");

/** The same for both sockets of a TLS connection: the one that was accepted, and the one that requests have. */
const keyOf = (socket: Socket): string => `${peerOf(socket)} ${socket.remotePort} ${socket.localAddress}`;

/** `pending` until the first request, so during the TLS handshake; `busy` while a request is not answered. */
type State = "pending" | "idle" | "busy";
/** The connections of one peer. The first of each set has been in that state the longest. */
type Peer = Record<State, Set<Connection>>;

interface Connection {
  key: string;
  socket: Socket;
  address: string;
  peer: Peer;
  state: State;
  calls: number;
}

export interface Connections {
  /** Whether the connection has a place. */
  admit(socket: Socket): boolean;
  asked(request: IncomingMessage, response: ServerResponse): void;
  /** Ends the connections that have sent no request. */
  endPending(): void;
}

const half = (count: number): number => Math.max(1, Math.floor(count / 2));
const sizeOf = ({ pending, idle, busy }: Peer): number => pending.size + idle.size + busy.size;
const oldest = ([first]: Set<Connection>): Connection | undefined => first;
/** What can go: a connection without a request first. A busy one stays. */
const spareOf = ({ pending, idle }: Peer) => oldest(pending) ?? oldest(idle);

/**
 * Keeps connections within a limit, at most half of them pending. One peer has at most half of either. A new connection takes the place
 * of an old one: of its own peer where that has its half, else of the peer with most.
 */
export function createConnections(most: number): Connections {
  const mostPending = half(most);
  const peers = new Map<string, Peer>();
  const known = new Map<string, Connection>();
  let pending = 0;

  function move(connection: Connection, state: State): void {
    connection.peer[connection.state].delete(connection);
    connection.peer[state].add(connection);
    if (connection.state === "pending") pending -= 1;
    if (state === "pending") pending += 1;
    connection.state = state;
  }

  function forget(connection: Connection): void {
    const { key, peer, state, address } = connection;
    if (!peer[state].delete(connection)) return;
    if (state === "pending") pending -= 1;
    if (known.get(key) === connection) known.delete(key);
    if (sizeOf(peer) === 0) peers.delete(address);
  }

  function end(connection: Connection | undefined): boolean {
    if (!connection) return false;
    forget(connection);
    connection.socket.destroy();
    return true;
  }

  function largest(own: Peer, size: (peer: Peer) => number): Peer {
    let found = own;
    for (const peer of peers.values()) if (size(peer) > size(found)) found = peer;
    return found;
  }

  function makeRoom(own: Peer): boolean {
    if (own.pending.size >= half(mostPending)) end(oldest(own.pending));
    else if (pending >= mostPending) end(oldest(largest(own, (peer) => peer.pending.size).pending));
    if (sizeOf(own) >= half(most)) return end(spareOf(own));
    if (known.size < most) return true;
    return end(spareOf(largest(own, (peer) => (peer === own || spareOf(peer) ? sizeOf(peer) : 0))));
  }

  return {
    admit(socket) {
      const [key, address] = [keyOf(socket), peerOf(socket)];
      const peer = peers.get(address) ?? { pending: new Set(), idle: new Set(), busy: new Set() };
      if (address === "" || !makeRoom(peer)) {
        socket.destroy();
        return false;
      }
      const connection: Connection = { key, socket, address, peer, state: "pending", calls: 0 };
      peers.set(address, peer);
      peer.pending.add(connection);
      pending += 1;
      known.set(key, connection);
      socket.once("close", () => forget(connection));
      return true;
    },
    asked({ socket }, response) {
      const connection = known.get(keyOf(socket));
      if (!connection) return;
      connection.calls += 1;
      move(connection, "busy");
      response.once("close", () => {
        connection.calls -= 1;
        if (connection.calls === 0 && known.get(connection.key) === connection) move(connection, "idle");
      });
    },
    endPending() {
      for (const { pending } of [...peers.values()]) for (const connection of pending) end(connection);
    },
  };
}
