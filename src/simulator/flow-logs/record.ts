/** One flow of an interval, from one address to another. Instants in Unix seconds. */
export interface Flow {
  source: string;
  target: string;
  sourcePort: number;
  targetPort: number;
  /** IANA number. */
  protocol: number;
  packets: number;
  bytes: number;
  start: number;
  end: number;
  action: "ACCEPT" | "REJECT";
}

/** A record of version 2: fourteen fields in this order. */
export function recordOf(
  contractNumber: number,
  interfaceId: string,
  flow: Flow,
  status: "OK" | "SKIPDATA" = "OK",
): string {
  const { source, target, sourcePort, targetPort, protocol, packets, bytes, start, end, action } = flow;
  const ends = [source, target, sourcePort, targetPort, protocol];
  return [2, contractNumber, interfaceId, ...ends, packets, bytes, start, end, action, status].join(" ");
}

/** The flow of a SKIPDATA record, which says that records of the interval were lost. */
export const skipped = (start: number, end: number, action: Flow["action"]): Flow => ({
  source: "0.0.0.0",
  target: "0.0.0.0",
  sourcePort: 0,
  targetPort: 0,
  protocol: 0,
  packets: 0,
  bytes: 0,
  start,
  end,
  action,
});
