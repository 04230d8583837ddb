import { datacenterSpec, objectOf } from "../engine/support/fixtures.ts";
import { SETTINGS } from "../engine/support/stage.ts";

export const KEY = "Datacenter/shop/a";
export const dc = (more: object = {}, metadata: object = {}) =>
  objectOf("Datacenter", "a", { spec: { ...datacenterSpec, ...more }, metadata: { name: "a", ...metadata } });
export const settle = SETTINGS.createDeadlineMs + SETTINGS.settleMs + 10_000;
