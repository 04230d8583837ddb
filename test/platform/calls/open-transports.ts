import { afterEach } from "vitest";
import { createTransport, type Transport, type TransportOptions } from "../../../src/platform/calls/transport.ts";
import { fakeClock } from "../../fake-clock.ts";

/** Opens transports and closes them after each test of the file. */
export function transportsForFile() {
  const transports: Transport[] = [];
  afterEach(async () => {
    for (const transport of transports.splice(0)) await transport.close();
  });

  return function open(options: Partial<TransportOptions> = {}): Transport {
    const transport = createTransport({ clock: fakeClock(), random: () => 0, ...options });
    transports.push(transport);
    return transport;
  };
}
