import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy that passes bytes on until it is cut, like a network cable. */
export interface CuttableProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections become silent, and new ones are refused without an answer, as after a power failure of a switch. */
  cut(): void;
  /** Resets old connections; new ones pass. */
  mend(): void;
  /** Redirects to another port of this machine, and resets old connections. */
  leadTo(port: number): void;
}

/** Listens on a free port and forwards to `port` of this machine. */
export async function startCuttableProxy(port: number): Promise<CuttableProxy> {
  let end = port;
  const sockets = new Set<Socket>();
  let whole = true;

  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (!whole) return void near.pause();
    const far = keep(connect(end, "127.0.0.1"));
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      whole = false;
      for (const socket of sockets) socket.unpipe().pause();
    },
    mend() {
      whole = true;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    leadTo(other) {
      end = other;
      for (const socket of sockets) socket.resetAndDestroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
