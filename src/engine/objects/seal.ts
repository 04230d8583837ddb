import type { KubeObject } from "../../kube/resource.ts";
import { createSigner, isVoid, type Verdict } from "../../signer.ts";
import { flat, groupOf } from "../schema/status-schema.ts";
import { GROUPS, type Group, type Trust, trust } from "../schema/trust.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";

/**
 * Whoever may write to an object can write anything into it. What Mooring has written there, and relies on, carries a
 * signature over it and the name of the object: without it, it does not count.
 */
export interface Seal {
  /** Judges what an object says, and keeps the verdict with it. */
  judge(kind: string, object: KubeObject): void;
  /** The status with its signature. */
  signed(kind: string, object: KubeObject, status: object): object;
  /** What an annotation of an object or a Secret says, with a signature. */
  mark(kind: string, object: Pick<KubeObject, "metadata">, annotation: string, words: object): string;
  /** What such an annotation says, and whether it counts; `current` when it is signed with the key that signs now. */
  read(kind: string, object: KubeObject, annotation: string): { words: object; verdict: Verdict; current: boolean };
}

export interface SealOptions {
  /** The first one signs, all of them count. Asked each time: they may be exchanged, and are then another list. */
  keys: () => readonly string[];
  /** Whether an administrator lets this object count without a signature of a known key. */
  believes?: (object: KubeObject) => boolean;
}

const MARKS = [INTENT, EXTERNAL_ID];

export function createSeal({ keys, believes = () => false }: SealOptions): Seal {
  const { sign, judge: judgeSigned, isCurrent } = createSigner(keys);
  const judge = (object: KubeObject, said: { account?: unknown }, words: unknown, signature: unknown): Verdict => {
    const verdict = typeof signature === "string" ? judgeSigned(words, signature) : "absent";
    const isUnproven = verdict === "foreign" || signature === undefined;
    return isUnproven && isOfOwnAccount(said) && believes(object) ? "ours" : verdict;
  };
  const readMark = (kind: string, object: KubeObject, annotation: string) => {
    const { signature, ...words } = parsed(object.metadata.annotations?.[annotation]);
    const verdict = judge(object, words, markWords(kind, object, annotation, words), signature);
    return { words, verdict, current: isCurrent(signature) };
  };
  const readStatus = (kind: string, object: KubeObject) => {
    const status = flat(Object(object.status));
    const { signature } = status;
    const [name, ...macs] = typeof signature === "string" ? signature.split(".") : [];
    const judged = statusWords(kind, object, status).map((words, nth) =>
      judge(object, status, words, typeof signature === "string" ? `${name}.${macs[nth] ?? ""}` : signature),
    );
    const [claim = "absent", request = "absent", facts = "absent"] = judged;
    return {
      verdicts: { claim, request, facts } satisfies Record<Group, Verdict>,
      id: status.id,
      current: isCurrent(signature),
    };
  };

  function examine(kind: string, object: KubeObject): Trust {
    const { verdicts, id, current } = readStatus(kind, object);
    const present = MARKS.filter((name) => object.metadata.annotations?.[name] !== undefined);
    const marks = present.map((name) => ({ name, ...readMark(kind, object, name) }));
    const named = [id, ...marks.map(({ words }) => Reflect.get(words, "id"))].find((each) => typeof each === "string");
    return {
      ...verdicts,
      annotations: Object.fromEntries(marks.map(({ name, verdict }) => [name, verdict])),
      current: {
        status: current && Object.values(verdicts).every((verdict) => verdict === "ours"),
        marks: marks.every((mark) => mark.current),
      },
      named,
      by: keys(),
    };
  }

  return {
    judge(kind, object) {
      if (trust.get(object)?.by !== keys()) trust.set(object, examine(kind, object));
    },
    signed(kind, object, status) {
      if (!Object.entries(status).some(([name, value]) => groupOf(name) && !isVoid(value))) return status;
      const [first = "", ...others] = statusWords(kind, object, status).map(sign);
      return { ...status, signature: [first, ...others.map((each) => each.split(".")[1])].join(".") };
    },
    mark: (kind, object, annotation, words) =>
      JSON.stringify({ ...words, signature: sign(markWords(kind, object, annotation, words)) }),
    read: readMark,
  };
}

/** Whose words they are. The uid would not survive a backup. */
const ownerOf = (kind: string, { metadata }: Pick<KubeObject, "metadata">): string[] => [
  kind,
  metadata.namespace ?? "",
  metadata.name,
];

const markWords = (kind: string, object: Pick<KubeObject, "metadata">, annotation: string, words: object) => [
  ...ownerOf(kind, object),
  annotation,
  words,
];

/** What is signed of a status, in the order of `GROUPS`. A request and facts are those of one resource. */
function statusWords(kind: string, object: KubeObject, status: object): unknown[] {
  const id: unknown = Reflect.get(status, "id") ?? "";
  return GROUPS.map((group) => {
    const words = Object.fromEntries(Object.entries(status).filter(([name]) => groupOf(name) === group));
    return [...ownerOf(kind, object), group, id, words];
  });
}

function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Whether words speak of an Account of a namespace: what a contract holds that namespaces share is never taken on trust. */
const isOfOwnAccount = ({ account }: { account?: unknown }): boolean =>
  typeof account === "string" && account !== "" && !account.startsWith("ClusterAccount/");
