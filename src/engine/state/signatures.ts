import type { KubeObject } from "../../kube/resource.ts";
import { createSigner, isVoid, type Verdict } from "../../runtime/signer.ts";
import { unlessThrown } from "../../runtime/unless-thrown.ts";
import { flat, groupOf } from "../status/schema.ts";
import { readStatus as stateOf } from "../status/status.ts";
import { GROUPS, type Group, type Trust, trust } from "../status/trust.ts";
import { isAsNew } from "./intent.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";
import { policiesOf } from "./policies.ts";

/**
 * Everybody who may write to an object can write anything into it. So Mooring signs what it writes there and relies on, together with
 * the name of the object. Without a valid signature it does not count.
 */
export type Signatures = ReturnType<typeof createSignatures>;

const MARKS = [INTENT, EXTERNAL_ID];

interface Options {
  /** The first one signs, a signature with any of them counts. Changed keys are a new array. */
  keys: () => readonly string[];
  /** Whether an administrator lets claims count that no known key has signed. */
  believes?: () => boolean;
}

export function createSignatures({ keys, believes = () => false }: Options) {
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

  function examine(kind: string, object: KubeObject, isNamed: () => boolean, before: KubeObject | undefined): Trust {
    const { status, current, verdicts } = readStatus(kind, object);
    const present = MARKS.filter((name) => object.metadata.annotations?.[name] !== undefined);
    const marks = present.map((name) => ({ name, ...readMark(kind, object, name) }));
    const kept = marks.find(({ name }) => name === EXTERNAL_ID);
    const source =
      status.id === undefined && kept ? kept : { words: status, verdict: verdicts.claim, signature: status.signature };
    const repeats = ({ name, words }: (typeof marks)[number]) =>
      name === INTENT ? words.nonce === status.nonce : words.id === Object(source.words).id;
    /**
     * An administrator lets unsigned claims count: the claim alone, and only with an Account of the object's namespace. It does
     * not count if a known key has signed it and somebody edited it, if a creation is open, or if another object names it.
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
    const verdict = {
      ...judged,
      annotations: Object.fromEntries(marks.map((mark) => [mark.name, verdictOf(mark)])),
      current: { status: current, marks: marks.every(({ signature }) => isCurrent(signature)) },
      named,
      by: keys(),
    };
    const counted = marks.filter(({ name }) => verdict.annotations[name] === "ours");
    return {
      ...verdict,
      ...newest(status, counted, verdict, before?.metadata.uid === object.metadata.uid ? before : undefined),
    };
  }

  return {
    believes,
    /** Judges an object, and keeps the verdict with it. `isNamed`: another object names the same. `before`: the object until now. */
    judge(kind: string, object: KubeObject, isNamed = () => true, before?: KubeObject): void {
      if (trust.get(object)?.by !== keys()) trust.set(object, examine(kind, object, isNamed, before));
    },
    /** The status with its signature. */
    signed(kind: string, object: KubeObject, status: object): object {
      if (!Object.entries(status).some(([name, value]) => groupOf(name) && !isVoid(value))) return status;
      const [first = "", ...others] = statusWords(kind, object, status).map(sign);
      return { ...status, signature: [first, ...others.map((each) => each.split(".")[1])].join(".") };
    },
    /** The value of an annotation of an object or a Secret, with its signature. */
    mark: (kind: string, object: Owner, annotation: string, words: object): string =>
      JSON.stringify({ ...words, signature: sign(markWords(kind, object, annotation, words)) }),
    /** Reads such an annotation; `current` when it is signed with the current key. */
    read(kind: string, object: KubeObject, annotation: string) {
      const { signature, words, verdict } = readMark(kind, object, annotation);
      return { words, verdict, current: isCurrent(signature) };
    },
  };
}

/** An old status that is put back has a valid signature, too. So the newest counts: the known status, else the annotation. */
function newest(status: object, marks: readonly Mark[], judged: Trust, before: KubeObject | undefined): Partial<Trust> {
  if ([judged.claim, judged.request, ...Object.values(judged.annotations)].includes("foreign")) return {};
  const isOurs = judged.claim === "ours";
  const signed = isOurs ? [status] : marks.map(({ words }) => words);
  const known = before ? stateOf(before) : {};
  const hasRevision = !isAsNew({}, known);
  if (before && hasRevision && !signed.some((each) => isAsNew(each, known))) {
    const { claim = "ours", request = "ours", facts = "ours", instead = before.status } = trust.get(before) ?? {};
    return { claim, request, facts, instead, current: { ...judged.current, status: false } };
  }
  const isOlder = isOurs && marks.some(({ name, words }) => name === EXTERNAL_ID && !isAsNew(status, words));
  return isOlder ? { claim: "absent", request: "absent", facts: "absent" } : {};
}

type Mark = { name: string; words: object };
type Owner = Pick<KubeObject, "metadata">;

/** The owner of signed words, without the uid: annotations must stay valid after a restore from a backup. */
const ownerOf = (kind: string, { metadata }: Owner): string[] => [kind, metadata.namespace ?? "", metadata.name];

const markWords = (kind: string, object: Owner, name: string, words: object) => [...ownerOf(kind, object), name, words];

/**
 * The signed parts of a status, in the order of `GROUPS`: with the id, because a request and facts are those of one resource, and
 * with the uid, because a later object may have the same name.
 */
function statusWords(kind: string, object: KubeObject, status: object): unknown[] {
  const id: unknown = Reflect.get(status, "id") ?? "";
  return GROUPS.map((group) => {
    const words = Object.fromEntries(Object.entries(status).filter(([name]) => groupOf(name) === group));
    return [...ownerOf(kind, object), object.metadata.uid ?? "", group, id, words];
  });
}

function parsed(text = ""): Record<string, unknown> {
  const value: unknown = unlessThrown(() => JSON.parse(text));
  return typeof value === "object" ? { ...value } : {};
}

/** Resources that an object names, signed or not. */
export function namesIn(object: KubeObject): { id: string; parents: Record<string, string> }[] {
  const stated = flat(Object(object.status));
  const kept = parsed(object.metadata.annotations?.[EXTERNAL_ID]);
  const ids = [stated.id, Object(stated.previous).id, policiesOf(object).externalId];
  const all = [...ids.map((id) => ({ id, parents: stated.parents })), { id: kept.id, parents: kept.parents }];
  return all.flatMap(({ id, parents }) => (typeof id === "string" ? [{ id, parents: { ...Object(parents) } }] : []));
}

/** Without a signature, no ClusterAccount counts, and no Account of another namespace. */
const isOfOwnAccount = ({ metadata }: KubeObject, words: object): boolean =>
  String(Reflect.get(words, "account")).startsWith(`${metadata.namespace}/`);
