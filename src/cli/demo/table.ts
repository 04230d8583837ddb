import { z } from "zod";
import { resourceOf } from "../../engine/state/object.ts";
import { kinds } from "../../kinds/index.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { pathOf } from "../../kube/resource.ts";

export interface Row {
  kind: string;
  name: string;
  state: string;
  ready: string;
  reason: string;
  message: string;
  ageSeconds: number;
}

const list = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), creationTimestamp: z.string() }),
      status: z
        .object({
          state: z.string().optional(),
          conditions: z
            .array(z.object({ type: z.string(), status: z.string(), reason: z.string(), message: z.string() }))
            .optional(),
        })
        .optional(),
    }),
  ),
});

export async function readRows(client: KubeClient, namespace: string, now: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of kinds) {
    const answer = await client.request({ method: "GET", path: pathOf(resourceOf(kind), { namespace }) });
    for (const { metadata, status } of list.parse(answer).items) {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      rows.push({
        kind: kind.kind,
        name: metadata.name,
        state: status?.state ?? "",
        ready: ready?.status ?? "Unknown",
        reason: ready?.reason ?? "",
        message: ready?.message ?? "",
        ageSeconds: Math.max(0, Math.round((now - Date.parse(metadata.creationTimestamp)) / 1000)),
      });
    }
  }
  return rows;
}

/** The rows as aligned lines with a heading. */
export function format(rows: readonly Row[]): string[] {
  const cells = rows.map((row) => [row.kind, row.name, row.state, row.ready, row.reason, `${row.ageSeconds}s`]);
  const all = [["KIND", "NAME", "STATE", "READY", "REASON", "AGE"], ...cells];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  return all.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Shows a changing table: redrawn in place on a terminal, one line per change elsewhere. */
export function createDisplay(out: NodeJS.WriteStream): {
  show(rows: readonly Row[], note?: string): void;
  leave(): void;
} {
  let drawn = 0;
  const seen = new Map<string, string>();
  return {
    /** Keeps the drawn table: other output follows it. */
    leave() {
      drawn = 0;
    },
    show(rows, note) {
      if (out.isTTY) {
        // A wrapped line would take two lines, and the next table would be drawn at the wrong place.
        const fitted = (line: string) => line.slice(0, (out.columns || 80) - 1);
        const lines = [...format(rows), ...(note === undefined ? [] : ["", ...note.split("\n")])].map(fitted);
        out.write(`${drawn > 0 ? `\x1b[${drawn}A` : ""}\x1b[J${lines.join("\n")}\n`);
        drawn = lines.length;
        return;
      }
      for (const { kind, name, state, ready, reason, ageSeconds } of rows) {
        const line = `${kind}/${name} ready=${ready} reason=${reason}${state && ` state=${state}`}`;
        if (seen.get(`${kind}/${name}`) === line) continue;
        seen.set(`${kind}/${name}`, line);
        out.write(`${String(ageSeconds).padStart(4)}s  ${line}\n`);
      }
    },
  };
}
