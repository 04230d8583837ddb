import { expect, it } from "vitest";
import { newestChanges } from "../../src/diagnostics/activity.ts";

const change = (minute: number, status: string) => ({
  time: `2026-03-01T12:0${minute}:00.000Z`,
  user: "owner",
  action: "vr.server.update",
  status,
  message: "",
  request_id: "r",
  resources: [],
});

it("the newest changes are shown, and the end of a request once", () => {
  const all = [change(3, "DONE"), change(3, "DONE"), change(2, "QUEUED"), change(1, "DONE"), change(0, "QUEUED")];
  expect(newestChanges(all, 3)).toEqual([change(3, "DONE"), change(2, "QUEUED"), change(1, "DONE")]);
});
