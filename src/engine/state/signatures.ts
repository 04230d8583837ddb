import type { KubeObject } from "../../kube/resource.ts";
import { createSigner, isVoid, type Verdict } from "../../runtime/signer.ts";
import { flat, groupOf } from "../status/schema.ts";
import { GROUPS, type Group, type Trust, trust } from "../status/trust.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";

/**
 * Whoever may write to an object can write anything into it. So Mooring signs what it writes there and relies on, together with
 * the name of the object. Without a valid signature it does not count.
 */
export interface Signatures {
  /** Judges an object, and keeps the verdict with it. `isNamed`: whether another object names the same resource. */
  judge(kind: string, object: KubeObject, isNamed?: () => boolean): void;
  /** Whether an administrator lets claims count now that no known key has signed. */
  believes(): boolean;
  /** The status with its signature. */
  signed(kind: string, object: KubeObject, status: object): object;
  /** The value of an annotation of an object or a Secret, with its signature. */
  mark(kind: string, object: Pick<KubeObject, "metadata">, annotation: string, words: object): string;
  /** Reads such an annotation; `current` when it is signed with the current key. */
  read(kind: string, object: KubeObject, annotation: string): { words: object; verdict: Verdict; current: boolean };
}

const MARKS = [INTENT, EXTERNAL_ID];

interface Options {
  /** The first one signs, all of them count. Asked each time: other keys are another list. */
  keys: () => readonly string[];
  believes?: Signatures["believes"];
}

export function createSignatures({ keys, believes = () => false }: Options): Signatures {
  const { sign, judge: judgeSigned, isCurrent } = createSigner(keys);
  const judge = (words: unknown, signature: unknown): Verdict =>
    typeof signature === "string" ? judgeSigned(words, signature) : "absent";
  const readMark = (kind: string, object: KubeObject, annotation: string) => {
    const { signature, ...words } = parsed(object.metadata.annotations?.[annotation]);
    const verdict = judge(markWords(kind, object, annotation, words), signature);
    return { words, verdict, signature };
  };
  const readStatus = (kind: string, object: KubeObject) => {
    const status = flat(Object(object.status));
    const { signature } = status;
    const [name, ...macs] = typeof signature === "string" ? signature.split(".") : [];
    const judged = statusWords(kind, object, status).map((words, nth) =>
      judge(words, typeof signature === "string" ? `${name}.${macs[nth] ?? ""}` : signature),
    );
    const [claim = "absent", request = "absent", facts = "absent"] = judged;
    const current = isCurrent(signature) && judged.every((verdict) => verdict === "ours");
    return { status, current, verdicts: { claim, request, facts } satisfies Record<Group, Verdict> };
  };

  function examine(kind: string, object: KubeObject, isNamed: () => boolean): Trust {
    const { status, current, verdicts } = readStatus(kind, object);
    const present = MARKS.filter((name) => object.metadata.annotations?.[name] !== undefined);
    const marks = present.map((name) => ({ name, ...readMark(kind, object, name) }));
    const kept = marks.find(({ name }) => name === EXTERNAL_ID);
    const source =
      status.id === undefined && kept ? kept : { words: status, verdict: verdicts.claim, signature: status.signature };
    const repeats = ({ name, words }: (typeof marks)[number]) =>
      name === INTENT ? words.nonce === status.nonce : words.id === Object(source.words).id;
    /**
     * An administrator lets the claim of an object count, through an Account of its own namespace. Nothing else of it counts, nor
     * what a known key has signed and somebody edited, a creation, or what another object names.
     */
    const isBelieved =
      believes() &&
      (source.verdict === "foreign" || source.signature === undefined) &&
      isOfOwnAccount(object, source.words) &&
      marks.every(repeats) &&
      !isNamed();
    const named = [status, ...marks.map(({ words }) => words)].map(({ id }) => id).find((id) => typeof id === "string");
    const isOurs = isBelieved || verdicts.claim === "ours";
    const judged = isBelieved
      ? ({ claim: source === kept ? "absent" : "ours", request: "absent", facts: "absent" } as const)
      : verdicts;
    // An annotation that only repeats a claim that counts does no harm, whoever has signed it.
    const verdictOf = (mark: (typeof marks)[number]): Verdict => {
      if (isBelieved && mark === source) return "ours";
      return isOurs && mark.verdict === "foreign" && repeats(mark) ? "absent" : mark.verdict;
    };
    return {
      ...judged,
      annotations: Object.fromEntries(marks.map((mark) => [mark.name, verdictOf(mark)])),
      current: { status: current, marks: marks.every(({ signature }) => isCurrent(signature)) },
      named,
      by: keys(),
    };
  }

  return {
    believes,
    judge(kind, object, isNamed = () => true) {
      if (trust.get(object)?.by !== keys()) trust.set(object, examine(kind, object, isNamed));
    },
    signed(kind, object, status) {
      if (!Object.entries(status).some(([name, value]) => groupOf(name) && !isVoid(value))) return status;
      const [first = "", ...others] = statusWords(kind, object, status).map(sign);
      return { ...status, signature: [first, ...others.map((each) => each.split(".")[1])].join(".") };
    },
    mark: (kind, object, annotation, words) =>
      JSON.stringify({ ...words, signature: sign(markWords(kind, object, annotation, words)) }),
    read(kind, object, annotation) {
      const { signature, ...read } = readMark(kind, object, annotation);
      return { ...read, current: isCurrent(signature) };
    },
  };
}

/** The owner of signed words. Annotations are without the uid, which would not survive a backup. */
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

/**
 * What is signed of a status, in the order of `GROUPS`: with the id, because a request and facts are those of one resource, and
 * with the uid, because a later object may have the same name.
 */
function statusWords(kind: string, object: KubeObject, status: object): unknown[] {
  const id: unknown = Reflect.get(status, "id") ?? "";
  return GROUPS.map((group) => {
    const words = Object.fromEntries(Object.entries(status).filter(([name]) => groupOf(name) === group));
    return [...ownerOf(kind, object), object.metadata.uid ?? "", group, id, words];
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

/** Resources that an object names, signed or not. */
export function namesIn({ status, spec, metadata }: KubeObject): { id: string; parents: Record<string, string> }[] {
  const stated = flat(Object(status));
  const kept = parsed(metadata.annotations?.[EXTERNAL_ID]);
  const ids = [stated.id, Object(stated.previous).id, Object(spec).externalId];
  const all = [...ids.map((id) => ({ id, parents: stated.parents })), { id: kept.id, parents: kept.parents }];
  return all.flatMap(({ id, parents }) => (typeof id === "string" ? [{ id, parents: { ...Object(parents) } }] : []));
}

/** Without a signature, no ClusterAccount counts, and no Account of another namespace. */
const isOfOwnAccount = ({ metadata }: KubeObject, words: object): boolean =>
  String(Reflect.get(words, "account")).startsWith(`${metadata.namespace}/`);
