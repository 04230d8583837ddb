import { describe, expect, it } from "vitest";
import { type Format, recordFormats } from "../../../src/cli/flowlogs/formats.ts";
import { humanBytes } from "../../../src/cli/flowlogs/numbers.ts";
import type { FlowRecord } from "../../../src/diagnostics/flow-logs/records/record.ts";
import { localTime } from "../../../src/diagnostics/time.ts";
import { flow } from "./lines.ts";

function formatted(format: Format, records: FlowRecord[]): string {
  const { record, end } = recordFormats[format]();
  return records.map(record).join("") + end();
}

describe("records", () => {
  const records = [flow(), flow({ srcaddr: "2001:db8::1", protocol: 253, action: "REJECT", bytes: 2n ** 64n - 1n })];

  it("are JSON, one object per line, with all digits", () => {
    const [first = "", second = "", rest] = formatted("json", records).split("\n");
    expect(JSON.parse(first)).toEqual(flow());
    expect(second).toContain('"bytes":18446744073709551615,');
    expect(rest).toBe("");
  });

  it("are CSV with a header, also when there are none", () => {
    const header =
      "account,interface,srcaddr,dstaddr,srcport,dstport,protocol,packets,bytes,start,end,action,status\r\n";
    const { interface: nic } = flow();
    const row = `12345678,${nic},172.17.1.100,172.17.1.101,59113,20756,6,17,1325,1587983051,1587983052,ACCEPT,OK\r\n`;
    expect(formatted("csv", [flow()])).toBe(header + row);
    expect(formatted("csv", [])).toBe(header);
  });

  it("are a table for people", () => {
    const time = localTime(1587983051);
    const { interface: nic } = flow();
    expect(formatted("table", records).split("\n")).toEqual([
      `START                      SECONDS  ACTION  PROTOCOL  SOURCE                 DESTINATION            PACKETS       BYTES  STATUS  INTERFACE`,
      `${time}        1  ACCEPT  TCP       172.17.1.100:59113     172.17.1.101:20756          17     1.3 KiB  OK      ${nic}`,
      `${time}        1  REJECT  253       [2001:db8::1]:59113    172.17.1.101:20756          17    16.0 EiB  OK      ${nic}`,
      "",
    ]);
  });

  it("stay lined up, however many there are", () => {
    const many = Array.from({ length: 2000 }, (_, at) => flow({ dstport: at, packets: at }));
    const lines = formatted("table", many).trimEnd().split("\n");
    const column = lines[0]?.indexOf("INTERFACE");
    expect(lines).toHaveLength(2001);
    expect(new Set(lines.slice(1).map((line) => line.indexOf(flow().interface)))).toEqual(new Set([column]));
  });
});

describe("bytes for people", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [1325, "1.3 KiB"],
    [1024 ** 2 - 1, "1.0 MiB"],
    [5 * 1024 ** 3, "5.0 GiB"],
    [2n ** 64n, "16.0 EiB"],
  ])("%s are %s", (bytes, text) => expect(humanBytes(bytes)).toBe(text));
});
