import type { Reading } from "../activity/reading.ts";
import type { Connection, Transport } from "../calls/transport.ts";

export type DestinationClients = ReturnType<typeof createDestinationClients>;

/**
 * Connections to destinations that are not the platform's: without credentials, but with the limits and rules for endpoints. With
 * each, the reading of the log that the next pass of its export continues.
 */
export function createDestinationClients(transport: Pick<Transport, "connect">) {
  const open = new Map<string, Connection>();
  const readings = new Map<string, Reading>();
  const drop = (key: string): void => {
    readings.get(key)?.close();
    readings.delete(key);
  };
  return {
    of(key: string): Connection {
      const connection = open.get(key) ?? transport.connect(key);
      open.set(key, connection);
      return connection;
    },
    /** The begun reading of the same part of the log, or a new one. */
    reading(key: string, of: string, begin: () => Reading): Reading {
      const known = readings.get(key);
      return known?.of === of ? known : begin();
    },
    /** A pass has ended. `isKept`: the next pass continues its reading. */
    settle(key: string, reading: Reading, isKept: boolean): void {
      if (readings.get(key) !== reading || !isKept) drop(key);
      if (isKept) readings.set(key, reading);
      else reading.close();
    },
    /** The next pass reads anew. */
    drop,
    async close(key: string): Promise<void> {
      drop(key);
      await open.get(key)?.close();
      open.delete(key);
    },
  };
}
