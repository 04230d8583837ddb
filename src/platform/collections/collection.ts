import type { Collection, CollectionOptions } from "./collection-interface.ts";
import { createListeners } from "./listeners.ts";
import { isGone, isPartial, isTooLarge } from "./lists/last-list.ts";
import { createMembers } from "./members.ts";
import { createPolling } from "./polling.ts";
import type { CollectionSource } from "./reading.ts";

export type { Collection, CollectionListener, CollectionOptions } from "./collection-interface.ts";
export type { Change, CollectionSource, Item, KnownRequest, Reading, RequestState } from "./reading.ts";

export function openCollection(source: CollectionSource, options: CollectionOptions): Collection {
  const { clock, random = Math.random, restMs = 300_000, busyMs = 1_500, log } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const { subscribe, notify, clear } = createListeners(source.key, log);
  const members = createMembers();
  const polling = createPolling({ clock, random, restMs, busyMs, source, members, signal, log, notify });
  const { changes, requests, last, schedule } = polling;
  schedule();
  return {
    key: source.key,
    read: (id) => ({ item: members.item(id), asOf: members.asOf(id), request: changes.request(id) }),
    members: () => members.items(),
    isLeaving: (id) => changes.isLeaving(id),
    get listedAt() {
      return members.listedAt;
    },
    get problem() {
      return last.problem;
    },
    get changing() {
      return changes.size;
    },
    get changedAt() {
      return polling.changedAt;
    },
    get gone() {
      return isGone(last);
    },
    get isTooLarge() {
      return isTooLarge(last);
    },
    get isPartial() {
      return isPartial(last);
    },
    track(id, change) {
      if (!changes.track(id, change)) return;
      polling.changed();
      schedule();
    },
    expect(id) {
      if (requests.expect(id)) schedule();
    },
    untrack(id) {
      changes.untrack(id);
      requests.unexpect(id);
      schedule();
    },
    refresh(ids) {
      requests.refresh(ids);
      schedule();
    },
    ask: (id) => changes.ask(id),
    subscribe,
    close() {
      closing.abort(new Error(`the collection ${source.key} was closed`));
      polling.stop();
      clear();
      members.clear(members.beginRead(clock.monotonic()));
      source.close?.();
    },
  };
}
