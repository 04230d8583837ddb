import type { LookupFunction, Socket } from "node:net";
import { buildConnector } from "undici";

const CONNECT_MS = 10_000;

/**
 * Opens connections that are closed by a reset (RST), never by a FIN. On a reset the kernel drops what it still has of an
 * abandoned request; after a FIN it would deliver it, however late. A finished exchange has nothing left to deliver.
 *
 * The TCP socket is opened first and TLS runs on top of it, because only a TCP socket can be reset. Closing a TLS socket
 * destroys the socket below it, also for TLS inside the TLS of a proxy.
 */
export function createConnector(options: {
  tls: { ca?: string[] };
  lookup?: LookupFunction | undefined;
}): buildConnector.connector {
  const common = { allowH2: false, timeout: CONNECT_MS };
  const plain = buildConnector({ ...common, ...(options.lookup && { lookup: options.lookup }) });
  const secure = buildConnector({ ...common, ...options.tls });
  return ({ servername, ...to }, callback) => {
    const isSecure = to.protocol === "https:";
    const port = to.port || (isSecure ? "443" : "80");
    plain({ ...to, protocol: "http:", port }, (error, socket) => {
      if (error) return callback(error, null);
      const httpSocket = endsByReset(socket);
      if (!isSecure) return callback(null, httpSocket);
      secure({ ...to, ...(servername !== undefined && { servername }), httpSocket }, callback);
    });
  };
}

/** Makes `destroy` reset the connection. A socket that was ended cannot be reset and is destroyed as usual. */
function endsByReset(socket: Socket): Socket {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    // resetAndDestroy() calls destroy() without the error.
    socket.destroy = () => destroy(error);
    return socket.writableEnded || socket.destroyed ? destroy(error) : socket.resetAndDestroy();
  };
  return socket;
}
