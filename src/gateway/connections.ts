import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The peer address of a connection. */
export const peerOf = ({ remoteAddress = "" }: Pick<Socket, "remoteAddress">): string =>
  remoteAddress.replace(/^::ffff:/, "");

const addressOf = (socket: Socket): string => `${peerOf(socket)} ${socket.remotePort}`;

export interface Connections {
  opened(socket: Socket): void;
  asked(request: IncomingMessage, response: ServerResponse): void;
}

/**
 * Limits the number of connections. When the limit is reached, a peer with fewer connections replaces an idle
 * connection of the peer with the most. So one peer cannot lock out the others.
 */
export function createConnections(most: number): Connections {
  const byPeer = new Map<string, Set<Socket>>();
  /**
   * Number of open calls per connection, by address: over TLS, requests have another socket object than the connection.
   */
  const calls = new Map<string, number>();
  let count = 0;

  function forget(peer: string, socket: Socket): void {
    const own = byPeer.get(peer);
    if (!own?.delete(socket)) return;
    count -= 1;
    if (own.size === 0) byPeer.delete(peer);
  }

  function hasRoom(peer: string): boolean {
    if (count < most) return true;
    let [largest, sockets] = ["", new Set<Socket>()];
    for (const [each, own] of byPeer) if (own.size > sockets.size) [largest, sockets] = [each, own];
    if (sockets.size <= (byPeer.get(peer)?.size ?? 0) + 1) return false;
    for (const socket of sockets) {
      if (calls.has(addressOf(socket))) continue;
      forget(largest, socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  return {
    opened(socket) {
      const peer = peerOf(socket);
      if (!hasRoom(peer)) return void socket.destroy();
      count += 1;
      byPeer.set(peer, (byPeer.get(peer) ?? new Set()).add(socket));
      socket.once("close", () => forget(peer, socket));
    },
    asked({ socket }, response) {
      const address = addressOf(socket);
      calls.set(address, (calls.get(address) ?? 0) + 1);
      response.once("close", () => {
        const left = (calls.get(address) ?? 1) - 1;
        if (left > 0) calls.set(address, left);
        else calls.delete(address);
      });
    },
  };
}
