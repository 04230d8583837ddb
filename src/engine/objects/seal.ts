import type { KubeObject } from "../../kube/resource.ts";
import { createSlot } from "../../once.ts";
import { createSigner, isVoid, type Verdict } from "../../signer.ts";
import { readStatus } from "../schema/status.ts";
import { flat } from "../schema/status-schema.ts";
import { readClaim, readIntent } from "./intent.ts";
import { EXTERNAL_ID, INTENT } from "./names.ts";

/**
 * Whoever may write to an object can write anything into it. What Mooring has written there, and relies on, carries a
 * signature over it and the name of the object: without it, it does not count.
 */
export interface Seal {
  /** The object without what Mooring has not written: status, intent, claim. */
  trusted(kind: string, object: KubeObject): KubeObject;
  /** Id of what the object owns by the word of a key that is not here; undefined when there is no such word. */
  foreignClaim(object: KubeObject): string | undefined;
  /** The status with its signature. */
  signed(kind: string, object: KubeObject, status: object): object;
  /** What an annotation of an object or a Secret says, with a signature. */
  mark(kind: string, object: Pick<KubeObject, "metadata">, annotation: string, words: object): string;
  /** What such an annotation says, when it counts; `current` when it is signed with the key that signs now. */
  read(kind: string, object: KubeObject, annotation: string): { words: unknown; current: boolean } | undefined;
  /** Whether the status of an object that was `trusted` is signed with the key that signs now. */
  isCurrent(object: KubeObject): boolean;
}

export interface SealOptions {
  /** The first one signs, all of them count. Asked each time: they may be exchanged, and are then another list. */
  keys: () => readonly string[];
  /** Whether what this object says without a signature counts: it may be from before there were any. */
  believes?: (object: KubeObject) => boolean;
}

/** What was found out about an object by these keys. */
interface Findings {
  by: readonly string[];
  /** All of it counts. */
  isOurs: boolean;
  /** What annotations say that counts. */
  marks: Map<string, { words: object; signature: unknown } | undefined>;
}

export function createSeal({ keys, believes = () => false }: SealOptions): Seal {
  const foreign = new WeakMap<KubeObject, string>();
  const findings = createSlot<KubeObject, Findings>();
  const findingsOf = (object: KubeObject): Findings => {
    const known = findings.get(object);
    const by = keys();
    if (known?.by === by) return known;
    const none = { by, isOurs: false, marks: new Map() };
    findings.set(object, none);
    return none;
  };

  const { sign, judge: judgeSigned, isCurrent } = createSigner(keys);
  const judge = (words: unknown, signature: unknown, unsigned: () => boolean): Verdict => {
    if (signature === undefined) return unsigned() ? "ours" : "absent";
    return typeof signature === "string" ? judgeSigned(words, signature) : "absent";
  };

  const statusWords = (kind: string, object: KubeObject, status: object) => [
    ...ownerOf(kind, object),
    "status",
    Object.fromEntries(Object.entries(status).filter(([name]) => !isShownOnly(name))),
  ];
  const markWords = (kind: string, object: Pick<KubeObject, "metadata">, annotation: string, words: object) => [
    ...ownerOf(kind, object),
    annotation,
    words,
  ];
  const judgeMark = (kind: string, object: KubeObject, annotation: string): { verdict: Verdict; words: object } => {
    const { signature, ...words } = parsed(object.metadata.annotations?.[annotation]);
    const unsigned = () => believes(object) && isOldMark(object, annotation);
    return { verdict: judge(markWords(kind, object, annotation, words), signature, unsigned), words };
  };

  const readMark = (kind: string, object: KubeObject, annotation: string) => {
    const { verdict, words } = judgeMark(kind, object, annotation);
    if (verdict !== "ours") return undefined;
    return { words, signature: parsed(object.metadata.annotations?.[annotation]).signature };
  };

  return {
    trusted(kind, object) {
      if (findingsOf(object).isOurs) return object;
      const { annotations } = object.metadata;
      const status = flat(statusOf(object));
      const said = judge(statusWords(kind, object, status), status.signature, () => {
        return !hasWords(status) || (believes(object) && agrees(object));
      });
      const marks = [INTENT, EXTERNAL_ID].filter((name) => annotations?.[name] !== undefined);
      const judged = marks.map((name) => ({ name, ...judgeMark(kind, object, name) }));
      const dropped = judged.filter(({ verdict }) => verdict !== "ours").map(({ name }) => name);
      const trusted = said === "ours" && dropped.length === 0 ? object : without(object, said === "ours", dropped);
      const kept = judged.find(({ name, verdict }) => name === EXTERNAL_ID && verdict === "foreign")?.words;
      const id: unknown = Reflect.get((said === "foreign" ? status : kept) ?? {}, "id");
      if (typeof id === "string") foreign.set(trusted, id);
      findingsOf(trusted).isOurs = true;
      return trusted;
    },
    foreignClaim: (object) => foreign.get(object),
    signed: (kind, object, status) =>
      hasWords(status) ? { ...status, signature: sign(statusWords(kind, object, status)) } : status,
    mark: (kind, object, annotation, words) =>
      JSON.stringify({ ...words, signature: sign(markWords(kind, object, annotation, words)) }),
    read(kind, object, annotation) {
      const { marks } = findingsOf(object);
      if (!marks.has(annotation)) marks.set(annotation, readMark(kind, object, annotation));
      const said = marks.get(annotation);
      return said && { words: said.words, current: isCurrent(said.signature) };
    },
    isCurrent: (object) => isCurrent(flat(statusOf(object)).signature),
  };
}

/** Whose words they are. The uid would not survive a backup. */
const ownerOf = (kind: string, { metadata }: Pick<KubeObject, "metadata">): string[] => [
  kind,
  metadata.namespace ?? "",
  metadata.name,
];

function parsed(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Whether a status says more than how the object stands. */
const hasWords = (status: object): boolean =>
  Object.entries(status).some(([name, value]) => !isShownOnly(name) && !isVoid(value));

/** Annotations of before signatures named their owner. */
function isOldMark(object: KubeObject, annotation: string): boolean {
  const { namespace = "", name } = object.metadata;
  const { owner } = parsed(object.metadata.annotations?.[annotation]);
  return annotation === EXTERNAL_ID ? owner === `${namespace}/${name}` : owner === undefined;
}

/** How an object stands is for people to read: nothing is done on its account. */
const isShownOnly = (name: string): boolean => ["conditions", "observedGeneration", "signature"].includes(name);

const statusOf = ({ status }: KubeObject): object => (typeof status === "object" && status !== null ? status : {});

/** Whether the two places where an object of before signatures names its resource say the same. */
function agrees(object: KubeObject): boolean {
  const { id, nonce } = readStatus(object);
  const { annotations } = object.metadata;
  if (id === undefined) return true;
  return readClaim(annotations?.[EXTERNAL_ID])?.id === id || readIntent(annotations?.[INTENT])?.nonce === nonce;
}

function without(object: KubeObject, withStatus: boolean, annotations: string[]): KubeObject {
  const status = statusOf(object);
  const shown = Object.fromEntries(
    Object.entries(status).filter(([name]) => name !== "signature" && isShownOnly(name)),
  );
  const kept = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !annotations.includes(name));
  return {
    ...object,
    metadata: { ...object.metadata, annotations: Object.fromEntries(kept) },
    ...(!withStatus && { status: shown }),
  };
}
