import { describe, expect, it } from "vitest";
import type { Window } from "../../../src/platform/activity/export.ts";
import { pieceOf } from "../../../src/platform/activity/piece.ts";
import { begunAt, type Progress } from "../../../src/platform/activity/progress.ts";
import { type ExportStep, exportNext } from "../../../src/platform/export/step.ts";
import { fakeClock } from "../../fake-clock.ts";

const BEGIN = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;
const id = (digit: string) => digit.repeat(32);

describe("a batch that was begun, of which the log no longer has all entries", () => {
  const period = { from: BEGIN, to: BEGIN + MINUTE };
  const window: Window = { period, total: 1, lines: [{ id: id("a"), time: BEGIN, text: "{}" }] };
  const readAt = BEGIN + 2 * MINUTE;

  /** A step of a platform whose clock is ahead of ours: `now` stays where the log has proven it. */
  function step(estimated: number) {
    const recorded: Progress[] = [];
    const value: ExportStep = {
      progress: begunAt(BEGIN),
      begun: pieceOf(window, readAt),
      taken: undefined,
      now: readAt,
      readAt,
      estimated,
      log: {
        clock: fakeClock(),
        page: async () => ({ sources: [], total: 0 }),
        check: () => {},
        isResumable: () => false,
      },
      to: { most: 1000, deliver: async () => {} },
      record: async (progress) => void recorded.push(progress),
      keep: () => {},
      note: async () => {},
    };
    return { value, recorded };
  }

  it("is waited for during ten minutes of the platform's clock", async () => {
    const { value, recorded } = step(readAt + 9 * MINUTE);
    await expect(exportNext(value)).rejects.toThrow("does not show all entries");
    expect(recorded).toEqual([]);
  });

  it("is given up after them, also where our own clock is behind: its period is delivered as it is now", async () => {
    const { value, recorded } = step(readAt + 10 * MINUTE);
    expect(await exportNext(value)).toBe(0);
    expect(recorded).toEqual([begunAt(BEGIN)]);
  });
});
