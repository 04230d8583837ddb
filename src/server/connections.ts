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
  requests: number;
}

export interface Connections {
  /** Whether the connection has a place. */
  admit(socket: Socket): boolean;
  /**
   * A request has arrived: its connection is busy until the response closes. False if the connection has ended, or ends now
   * because it has too many requests without an answer.
   */
  requested(request: IncomingMessage, response: ServerResponse): boolean;
  /** Ends the connections that have sent no request. */
  endPending(): void;
}

/** Requests that a connection may have open. Clients wait for an answer before they send the next one, or send a few. */
const MOST_UNANSWERED = 16;

const half = (count: number): number => Math.max(1, Math.floor(count / 2));
const sizeOf = ({ pending, idle, busy }: Peer): number => pending.size + idle.size + busy.size;
const oldest = ([first]: Set<Connection>): Connection | undefined => first;
/** The connection to evict: a pending one, else an idle one. A busy one is never evicted. */
const evictable = ({ pending, idle }: Peer) => oldest(pending) ?? oldest(idle);

/**
 * Limits the number of connections, and of pending ones to half of that. One peer has at most half of all connections, and half
 * of the pending ones. At a limit, a new connection evicts an old one: of its own peer if that has reached its half, else of the
 * peer with the most.
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

  function peerWithMost(own: Peer, size: (peer: Peer) => number): Peer {
    let found = own;
    for (const peer of peers.values()) if (size(peer) > size(found)) found = peer;
    return found;
  }

  /** Evicts connections until the peer may have one more; false when none can be evicted. */
  function makePlace(own: Peer): boolean {
    if (own.pending.size >= half(mostPending)) end(oldest(own.pending));
    else if (pending >= mostPending) end(oldest(peerWithMost(own, (peer) => peer.pending.size).pending));
    if (sizeOf(own) >= half(most)) return end(evictable(own));
    if (known.size < most) return true;
    const sizeIfEvictable = (peer: Peer) => (peer === own || evictable(peer) ? sizeOf(peer) : 0);
    return end(evictable(peerWithMost(own, sizeIfEvictable)));
  }

  return {
    admit(socket) {
      const [key, address] = [keyOf(socket), peerOf(socket)];
      const peer = peers.get(address) ?? { pending: new Set(), idle: new Set(), busy: new Set() };
      if (address === "" || !makePlace(peer)) {
        socket.destroy();
        return false;
      }
      const connection: Connection = { key, socket, address, peer, state: "pending", requests: 0 };
      peers.set(address, peer);
      peer.pending.add(connection);
      pending += 1;
      known.set(key, connection);
      socket.once("close", () => forget(connection));
      return true;
    },
    requested({ socket }, response) {
      const connection = known.get(keyOf(socket));
      if (!connection) return false;
      if (connection.requests >= MOST_UNANSWERED) {
        end(connection);
        return false;
      }
      connection.requests += 1;
      move(connection, "busy");
      response.once("close", () => {
        connection.requests -= 1;
        if (connection.requests === 0 && known.get(connection.key) === connection) move(connection, "idle");
      });
      return true;
    },
    endPending() {
      for (const { pending } of [...peers.values()]) for (const connection of pending) end(connection);
    },
  };
}
