import type { Bucket, StoredObject } from "../buckets/records.ts";
import type { Depot, ObjectCall, S3Call, S3Reply } from "../call.ts";
import { fault } from "../fault.ts";
import { textIn } from "../request/body.ts";
import { elementsIn, textOf, type Xml, xmlDocument } from "../xml/xml.ts";
import { checkTags, documentIn } from "./settings.ts";

type Settings = Readonly<Record<string, string>>;

const oneDay = 86_400_000;
const noTags = xmlDocument(["Tagging", [["TagSet", []]]]);

const retentionOf = (mode: string, until: number) =>
  xmlDocument([
    "Retention",
    [
      ["Mode", mode],
      ["RetainUntilDate", new Date(until).toISOString()],
    ],
  ]);

const withoutLock = () => fault("InvalidRequest", "The bucket has no object lock");

/** The settings of a new object, from the headers of its upload and the object lock of its bucket. */
export function initialSettings({ header }: S3Call, { settings }: Bucket, now: number): Settings {
  const made: Record<string, string> = {};
  const tags = [...new URLSearchParams(header("x-amz-tagging") ?? "")];
  if (tags.length > 0) {
    const set = tags.map(
      ([key, value]): Xml => [
        "Tag",
        [
          ["Key", key],
          ["Value", value],
        ],
      ],
    );
    made.tagging = xmlDocument(["Tagging", [["TagSet", set]]]);
    checkTags(made.tagging, 10);
  }
  const lock = settings["object-lock"];
  const [mode, until] = [header("x-amz-object-lock-mode"), header("x-amz-object-lock-retain-until-date")];
  const hold = header("x-amz-object-lock-legal-hold");
  if (lock === undefined && (mode ?? until ?? hold) !== undefined) throw withoutLock();
  if (lock === undefined) return made;
  const days = Number(textOf(lock, "Days") ?? 0) + 365 * Number(textOf(lock, "Years") ?? 0);
  if (mode !== undefined && until !== undefined) made.retention = retentionOf(mode, Date.parse(until));
  else if (days > 0) made.retention = retentionOf(textOf(lock, "Mode") ?? "GOVERNANCE", now + days * oneDay);
  if (hold !== undefined) made["legal-hold"] = xmlDocument(["LegalHold", [["Status", hold]]]);
  return made;
}

/** The headers that show the settings of an object. */
export function settingHeaders({ settings = {}, versionId }: StoredObject): Record<string, string> {
  const { tagging, retention, "legal-hold": hold } = settings;
  const tags = tagging === undefined ? 0 : elementsIn(tagging, "Tag").length;
  return {
    ...(versionId !== undefined && { "x-amz-version-id": versionId }),
    ...(tags > 0 && { "x-amz-tagging-count": String(tags) }),
    ...(retention !== undefined && {
      "x-amz-object-lock-mode": textOf(retention, "Mode") ?? "",
      "x-amz-object-lock-retain-until-date": textOf(retention, "RetainUntilDate") ?? "",
    }),
    ...(hold !== undefined && { "x-amz-object-lock-legal-hold": textOf(hold, "Status") ?? "" }),
  };
}

/** Refuses to end what a retention or a legal hold protects. */
export function checkUnlocked({ header }: S3Call, { settings = {} }: StoredObject, now: number): void {
  const { retention = "", "legal-hold": hold = "" } = settings;
  if (textOf(hold, "Status") === "ON") throw fault("AccessDenied", "Access denied: the object has a legal hold");
  const bypasses = header("x-amz-bypass-governance-retention") === "true" && textOf(retention, "Mode") === "GOVERNANCE";
  if (Date.parse(textOf(retention, "RetainUntilDate") ?? "") > now && !bypasses) {
    throw fault("AccessDenied", "Access denied: the object is retained until later");
  }
}

/** Tags, retention and legal hold of an object. */
export function objectSettingOperations(depot: Depot, find: (call: ObjectCall) => StoredObject) {
  const { buckets, write } = depot;

  function check(call: ObjectCall, object: StoredObject, name: string, document: string): void {
    if (name === "tagging") checkTags(document, 10);
    else if (call.bucket.settings["object-lock"] === undefined) throw withoutLock();
    const before = Date.parse(textOf(object.settings?.retention ?? "", "RetainUntilDate") ?? "");
    if (name !== "retention" || Number.isNaN(before)) return;
    // A retention can always be extended. It can be shortened only if the object could be deleted.
    if (Date.parse(textOf(document, "RetainUntilDate") ?? "") < before) {
      checkUnlocked(call, { ...object, settings: { retention: object.settings?.retention ?? "" } }, depot.now());
    }
  }

  return {
    read(call: ObjectCall, name: string): S3Reply {
      const { settings = {} } = find(call);
      const content = settings[name] ?? (name === "tagging" ? noTags : undefined);
      if (content !== undefined) return { status: 200, text: { type: "application/xml", content } };
      if (name !== "retention" && name !== "legal-hold") {
        throw fault("NotImplemented", `The object storage has no ${name} here`);
      }
      if (call.bucket.settings["object-lock"] === undefined) throw withoutLock();
      throw fault("NoSuchObjectLockConfiguration", "The setting does not exist");
    },

    async write(call: ObjectCall, name: string): Promise<S3Reply> {
      const document = documentIn(name, await textIn(call.request, call.signed));
      await write(() => {
        const object = find(call);
        check(call, object, name, document);
        buckets.update({ ...object, settings: { ...object.settings, [name]: document } });
      });
      return { status: 200 };
    },

    async remove(call: ObjectCall): Promise<S3Reply> {
      await write(() => {
        const object = find(call);
        const { tagging: _, ...settings } = object.settings ?? {};
        buckets.update({ ...object, settings });
      });
      return { status: 204 };
    },
  };
}
