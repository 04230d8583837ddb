import { z } from "zod";
import type { Inputs, SecretInput } from "../../desired.ts";
import type { Rules } from "../../kind.ts";
import { exactlyOne, formed, list, objectName, secretKey } from "../fields.ts";
import { either, validations } from "../rules.ts";

/** Valid first lines of first-boot data. cloud-init reads the format from them. */
const beginnings = ["#cloud-config", "#!", "#include", "Content-Type:", "MIME-Version:", "#upstart-job"];
const listed = `${beginnings.slice(0, -1).join(", ")} or ${beginnings.at(-1)}`;

/** Limit in base64 characters; the decoded data is three quarters of that. */
const MOST_BASE64 = 65_536;
const MOST_BYTES = (MOST_BASE64 / 4) * 3;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * A pattern for the base64 of every text that begins with `text`. A base64 character has six bits. The text determines
 * only the first two or four bits of the last character, unless its length is a multiple of three bytes.
 */
function encoded(text: string): string {
  const leftover = text.length % 3;
  const base64 = Buffer.from(text).toString("base64");
  if (leftover === 0) return base64;
  const certain = base64.replace(/.=+$/, "");
  const lowest = alphabet.indexOf(base64.charAt(certain.length));
  const choices = leftover === 1 ? 16 : 4;
  return `${certain}[${alphabet.slice(lowest, lowest + choices)}]`;
}

const encodedBeginning = new RegExp(`^(${beginnings.map(encoded).join("|")})`);

/** First-boot data in base64. `hint` tells users with plain text what to do. */
export function userDataField(hint = "") {
  return formed(
    /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
    MOST_BASE64,
    `must be base64 without line breaks${hint}`,
    [encodedBeginning, `must be the base64 of a text that begins with ${listed}`],
  ).optional();
}

/** One line of authorized_keys: optional options, the type, the key, and an optional comment. */
export const publicKey =
  /^([^\s\p{Cc}-]([^\p{Cc}\p{Zl}\p{Zp}]|\t)*[ \t])?(ssh-(rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3}|sk-[a-z0-9-]+@openssh\.com)[ \t]+AAAA([^\p{Cc}\p{Zl}\p{Zp}]|\t)*$/u;

const MOST_KEYS = 100;
const LONGEST_KEY = 4096;
const keyForm = "must be one public key on one line, as in authorized_keys: ssh-ed25519 AAAA… comment";

const keyOf = (kind: "Secret" | "ConfigMap") =>
  z
    .object({
      name: objectName().describe(`Name of the ${kind}, in the same namespace.`),
      key: secretKey(kind).describe("Key that holds the public keys."),
    })
    .optional()
    .describe(`Key of a ${kind}.`);

/** Keys and first-boot data of a machine, for every schema with new volumes. */
export const firstBootFields = {
  sshKeys: list(formed(publicKey, LONGEST_KEY, keyForm).describe("A public key in the form of authorized_keys."), {
    max: MOST_KEYS,
  })
    .optional()
    .describe("Public keys for the default user. Used at creation only."),
  sshKeysFrom: list(
    z
      .object({ secretKeyRef: keyOf("Secret"), configMapKeyRef: keyOf("ConfigMap") })
      .meta(validations(exactlyOne("secretKeyRef", "configMapKeyRef"))),
    { max: 10 },
  )
    .optional()
    .describe(
      "Secrets and ConfigMaps with public keys, one per line as in authorized_keys, in addition to sshKeys. Used at creation only.",
    ),
  userData: userDataField("; plain text goes into a Secret, see userDataSecretRef").describe(
    "First-boot configuration, base64: cloud-config, a script, an include file, MIME parts or an Upstart job. Used at creation only. Excludes userDataSecretRef.",
  ),
  userDataSecretRef: z
    .object({
      name: objectName().describe("Name of the Secret, in the same namespace."),
      key: secretKey().default("userData").describe("Key that holds the plain first-boot configuration."),
    })
    .optional()
    .describe("A Secret with the first-boot configuration. Used at creation only. Excludes userData."),
  imagePasswordSecretRef: z
    .object({
      name: objectName().describe("Name of the Secret, in the same namespace."),
      key: secretKey().default("password").describe("Key that holds the password: 8 or more letters and digits."),
    })
    .optional()
    .describe(
      "A Secret with the password of the image's own user, for images without cloud-init. Used at creation only.",
    ),
};

interface DataKey {
  name: string;
  key: string;
}

interface FirstBoot {
  userData?: string | undefined;
  sshKeys?: string[] | undefined;
  sshKeysFrom?: { secretKeyRef?: DataKey | undefined; configMapKeyRef?: DataKey | undefined }[] | undefined;
  userDataSecretRef?: DataKey | undefined;
  imagePasswordSecretRef?: DataKey | undefined;
}

/** Rules of a volume. Messages name its fields with `prefix`: `bootVolume.`. */
export const firstBootRules = (prefix = ""): Rules[] => [
  either("has(self.userData) || has(self.userDataSecretRef)", [
    {
      rule: "!has(self.userData) || !has(self.userDataSecretRef)",
      message: `${prefix}userData and ${prefix}userDataSecretRef exclude each other: remove one of them`,
    },
    {
      rule: "has(self.image) || has(self.imageAlias) || (has(self.imageLookup) && (!has(self.imageLookup.cloudInit) || self.imageLookup.cloudInit == 'V1'))",
      message: `${prefix}userData needs an image with cloud-init: set image, imageAlias or an imageLookup that does not ask for cloudInit NONE`,
    },
  ]),
  {
    rule: "!has(self.imagePasswordSecretRef) || has(self.image) || has(self.imageAlias) || has(self.imageLookup)",
    message: `${prefix}imagePasswordSecretRef needs an image: set image, imageAlias or imageLookup`,
  },
];

export const firstBootImmutable = (prefix = ""): Record<string, string> => ({
  [`${prefix}sshKeys`]: "ssh keys are used at creation only",
  [`${prefix}sshKeysFrom`]: "ssh keys are used at creation only",
  [`${prefix}userData`]: "user data is used at creation only",
  [`${prefix}userDataSecretRef`]: "user data is used at creation only",
  [`${prefix}imagePasswordSecretRef`]: "the password is used at creation only",
});

/**
 * The Secret and ConfigMap values of a volume, each with its check: `wrong` returns the end of a message, or undefined
 * for a valid value. A message names the key and never shows the value.
 */
function sources(
  { userDataSecretRef, imagePasswordSecretRef, sshKeysFrom = [] }: FirstBoot,
  prefix: string,
): { input: SecretInput; wrong(value: string): string | undefined }[] {
  const source = (field: string, kind: SecretInput["kind"], at: DataKey | undefined, wrong: typeof wrongKeys) =>
    at ? [{ input: { field: `${prefix}${field}`, kind, ...at }, wrong }] : [];
  return [
    ...source("userDataSecretRef", "Secret", userDataSecretRef, wrongUserData),
    ...source("imagePasswordSecretRef", "Secret", imagePasswordSecretRef, wrongPassword),
    ...sshKeysFrom.flatMap(({ secretKeyRef, configMapKeyRef }, nth) => [
      ...source(`sshKeysFrom[${nth}]`, "Secret", secretKeyRef, wrongKeys),
      ...source(`sshKeysFrom[${nth}]`, "ConfigMap", configMapKeyRef, wrongKeys),
    ]),
  ];
}

export const firstBootSecrets = (given: FirstBoot, prefix = ""): SecretInput[] =>
  sources(given, prefix).map(({ input }) => input);

/** The first problem of a value in a Secret or ConfigMap, which the API server cannot validate. */
export function firstBootProblem(given: FirstBoot, inputs: Pick<Inputs, "secrets">, prefix = ""): string | undefined {
  for (const { input, wrong } of sources(given, prefix)) {
    const value = inputs.secrets[input.field];
    const problem = value === undefined ? undefined : wrong(value);
    if (problem !== undefined) return `${input.field}: ${input.key} in ${input.kind} ${input.name}${problem}`;
  }
  const count = allKeys(given, inputs, prefix)?.length ?? 0;
  if (count <= MOST_KEYS) return undefined;
  return `${prefix}sshKeysFrom: ${count} keys with those in ${prefix}sshKeys; at most ${MOST_KEYS} are allowed`;
}

const wrongPassword = (value: string) =>
  /^[A-Za-z0-9]{8,}$/.test(value) ? undefined : " must be 8 or more letters (A-Z, a-z) and digits";

function wrongUserData(value: string): string | undefined {
  if (!beginnings.some((each) => value.startsWith(each))) return ` must be plain text that begins with ${listed}`;
  const size = Buffer.byteLength(value);
  return size > MOST_BYTES ? ` has ${size} bytes; at most ${MOST_BYTES} are allowed` : undefined;
}

/** The lines of authorized_keys without blank lines and comments; numbered from 1. */
const keyLines = (text: string) =>
  [...text.split("\n").entries()].flatMap(([nth, line]) => {
    const key = line.trim();
    return key === "" || key.startsWith("#") ? [] : [{ key, nth: nth + 1 }];
  });

function wrongKeys(value: string): string | undefined {
  const keys = keyLines(value);
  const bad = keys.find(({ key }) => key.length > LONGEST_KEY || !publicKey.test(key));
  if (bad) return `, line ${bad.nth}: ${keyForm}`;
  return keys.length === 0 ? " has no public key" : undefined;
}

function allKeys(
  { sshKeys, sshKeysFrom }: FirstBoot,
  { secrets }: Pick<Inputs, "secrets">,
  prefix: string,
): string[] | undefined {
  const found = sshKeysFrom?.flatMap((_, nth) => keyLines(secrets[`${prefix}sshKeysFrom[${nth}]`] ?? ""));
  return found ? [...(sshKeys ?? []), ...found.map(({ key }) => key)] : sshKeys;
}

/** Keys and first-boot data as the platform expects them: user data in base64. */
export function firstBootProperties(given: FirstBoot, inputs: Pick<Inputs, "secrets">, prefix = "") {
  const secret = inputs.secrets[`${prefix}userDataSecretRef`];
  return {
    sshKeys: allKeys(given, inputs, prefix),
    userData: secret === undefined ? given.userData : Buffer.from(secret).toString("base64"),
    imagePassword: inputs.secrets[`${prefix}imagePasswordSecretRef`],
  };
}
