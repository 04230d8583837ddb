/** A record of a flow log, read field by field. */
export interface FlowRecord {
  line: string;
  account: string;
  face: string;
  source: string;
  target: string;
  sourcePort: number;
  targetPort: number;
  protocol: number;
  packets: number;
  bytes: number;
  start: number;
  end: number;
  action: string;
  status: string;
}

/** All records of an object; throws at a line that is none of version 2. */
export const recordsIn = (text: string): FlowRecord[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map(recordIn);

function recordIn(line: string): FlowRecord {
  const fields = line.split(" ");
  const [version, account = "", face = "", source = "", target = "", ...rest] = fields;
  const [action = "", status = ""] = rest.slice(7);
  const numbers = rest.slice(0, 7).map(Number);
  const [sourcePort = -1, targetPort = -1, protocol = -1, packets = -1, bytes = -1, start = -1, end = -1] = numbers;
  const whole = numbers.every((each) => Number.isSafeInteger(each) && each >= 0);
  const known = /^(ACCEPT|REJECT)$/.test(action) && /^(OK|SKIPDATA)$/.test(status);
  if (version !== "2" || fields.length !== 14 || !whole || !known) throw new Error(`not a record: ${line}`);
  return {
    line,
    account,
    face,
    source,
    target,
    sourcePort,
    targetPort,
    protocol,
    packets,
    bytes,
    start,
    end,
    action,
    status,
  };
}
