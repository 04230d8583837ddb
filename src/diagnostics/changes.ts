import { z } from "zod";
import { readStatus } from "../engine/status/status.ts";
import type { KubeObject } from "../kube/resource.ts";
import { type Entry, isRead } from "../platform/activity/entry.ts";
import { type Asked, newestEntries, periodOf, shortEntry, truncation } from "./activity.ts";
import { allObjects } from "./objects.ts";
import { attempt, type Sources } from "./sources.ts";

/** The operator's field manager. Its writes do not count as changes. */
const OPERATOR = "mooring";

interface Change {
  time: string;
  where: "cluster" | "platform";
  what: string;
  who?: string | undefined;
}

const fields = z.array(
  z.looseObject({ manager: z.string().nullish(), time: z.string().nullish(), subresource: z.string().nullish() }),
);

/** Maximum changes in an answer. */
const MOST_SHOWN = 500;

/** Changes since a time, of objects in the cluster and of resources on the platform; newest first. */
export async function changesSince(sources: Sources, asked: Asked & { namespace?: string | undefined }) {
  const changes: Change[] = [];
  const missing: string[] = [];
  let period = periodOf(asked, sources.now());
  let reachedTo: number | undefined;
  await attempt(sources, "platform", missing, async () => {
    const platform = await sources.platform();
    period = periodOf(asked, platform.now());
    const isWanted = (entry: Entry) => !isRead(entry) && entry.event !== "RequestStatusUpdate";
    const found = await newestEntries(platform, { period, most: MOST_SHOWN, isWanted }, sources);
    reachedTo = found.reachedTo;
    for (const entry of found.entries) {
      const { time, user, action, resources, status } = shortEntry(entry);
      changes.push({ time, where: "platform", what: `${action} ${resources.join(", ")} ${status}`.trim(), who: user });
    }
  });
  // Both sides cover the same period.
  const from = reachedTo ?? period.from;
  await attempt(sources, "cluster", missing, async () => {
    for (const { key, object } of (await allObjects(sources, asked.namespace)).values()) {
      for (const change of changesOf(key, object)) {
        const at = Date.parse(change.time);
        if (at >= from && at < period.to) changes.push(change);
      }
    }
  });
  // Neither side could be read.
  if (missing.length === 2) throw new Error(missing.join("; "));
  return {
    since: new Date(from).toISOString(),
    changes: changes.sort((a, b) => Date.parse(b.time) - Date.parse(a.time)),
    ...truncation({ reachedTo }),
    ...(missing.length > 0 && { not_checked: missing }),
  };
}

/** The changes that an object records: creation, edits, deletion and condition transitions. */
function changesOf(key: string, object: KubeObject): Change[] {
  const { creationTimestamp, deletionTimestamp } = object.metadata;
  const at = (time: string | null | undefined, what: string, who?: string | null): Change[] =>
    time == null ? [] : [{ time, where: "cluster", what: `${key} ${what}`, ...(who != null && { who }) }];
  const managed = fields.safeParse(Reflect.get(object.metadata, "managedFields"));
  return [
    ...at(creationTimestamp, "was created"),
    ...at(deletionTimestamp, "is being deleted"),
    ...(managed.success ? managed.data : []).flatMap(({ time, manager, subresource }) =>
      subresource == null && time !== creationTimestamp && manager !== OPERATOR ? at(time, "was edited", manager) : [],
    ),
    ...(readStatus(object).conditions ?? []).flatMap(({ type, status, reason, lastTransitionTime }) =>
      at(lastTransitionTime, `has ${type} ${status} (${reason})`),
    ),
  ];
}
