/** A change that a fault makes to an answer. */
export interface Alteration {
  /** The only resource that is changed; undefined: the resource of the answer, or all items of a list. */
  id?: string | undefined;
  /** New values, by the path of their field. */
  set: Readonly<Record<string, unknown>>;
  /** The paths of fields that are left out. */
  remove: readonly string[];
}

/** How faults change the execution of one call. All times are simulated milliseconds. */
export interface Effects {
  /** Accepted requests of this call end FAILED with this message. */
  failWith: string | null;
  /** Provisioning takes this many times as long. */
  slowdown: number;
  /** Created resources stay invisible at least this long, even past the end of their request. */
  invisibleFor: number;
  /** Collections leave out items younger than this. */
  hideYoungerThan: number;
  /** Lists end after this many items, over all pages; null: they are complete. */
  mostListed: number | null;
  /** Reads by id are answered 404. */
  noMembers: boolean;
  /** The resources that the call deletes are hidden from reads while the deletion runs. */
  hideWhileDeleting: boolean;
  /** The change is accepted and not made. */
  notDone: boolean;
  /** Reads see the platform as it was this long ago. */
  stale: number;
  /** The part that deep reads leave out. */
  shallow: "entities" | "properties" | null;
  /** Added to the Date header and to every timestamp of the answer. */
  skew: number;
  /** Added to the Date header alone. */
  dateSkew: number;
  /** Changes to the answer, in this order. */
  alterations: readonly Alteration[];
  /** A model answers with nothing. */
  emptyContent: boolean;
  /** Real milliseconds between two events of a stream. */
  eventPause: number;
  /** A stream breaks off after this many events. */
  eventsUntilCut: number;
}

export const noEffects: Effects = {
  failWith: null,
  slowdown: 1,
  invisibleFor: 0,
  hideYoungerThan: 0,
  mostListed: null,
  noMembers: false,
  hideWhileDeleting: false,
  notDone: false,
  stale: 0,
  shallow: null,
  skew: 0,
  dateSkew: 0,
  alterations: [],
  emptyContent: false,
  eventPause: 0,
  eventsUntilCut: Number.POSITIVE_INFINITY,
};
