import { afterEach } from "vitest";
import {
  type Collection,
  type CollectionOptions,
  openCollection,
} from "../../../src/platform/collections/collection.ts";
import { fakeClock } from "../../fake-clock.ts";
import type { ScriptedSource } from "./scripted-source.ts";

export const urlOf = (id: string) => `/requests/${id}/status`;
export const DONE = { status: "DONE", targets: [] } as const;

/** Opens collections and closes them after each test of the file. */
export function collectionsForFile() {
  const opened: Collection[] = [];
  afterEach(() => {
    for (const collection of opened.splice(0)) collection.close();
  });

  async function open(source: ScriptedSource, options: Partial<CollectionOptions> = {}) {
    const clock = fakeClock();
    const collection = openCollection(source, { clock, random: () => 0.5, ...options });
    opened.push(collection);
    const heard: ("all" | string[])[] = [];
    collection.subscribe((ids) => heard.push(ids === "all" ? ids : [...ids].sort()));
    await clock.advance(0);
    return { clock, collection, heard, since: clock.now() };
  }

  /** Counts calls and news from after the first list. */
  async function openTracked(source: ScriptedSource) {
    const { clock, collection, heard } = await open(source);
    heard.length = 0;
    const begin = { ...source.calls };
    const spent = () => ({
      list: source.calls.list - begin.list,
      get: source.calls.get - begin.get,
      request: source.calls.request - begin.request,
      ...(source.calls.deletions > 0 && { deletions: source.calls.deletions }),
    });
    const track = (id: string, more: object = {}) =>
      collection.track(id, { url: urlOf(id), since: clock.now(), ...more });
    return { clock, collection, heard, spent, track };
  }

  return { open, openTracked };
}
