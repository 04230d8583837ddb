import { z } from "zod";
import type { Inputs, Rule, SecretInput } from "../kind.ts";
import { formed, list, objectName, secretKey } from "./fields.ts";

/** What first-boot configuration begins with, so that the machine can tell what it is. */
const beginnings = ["#cloud-config", "#!", "#include", "Content-Type:", "MIME-Version:", "#upstart-job"];
const listed = `${beginnings.slice(0, -1).join(", ")} or ${beginnings.at(-1)}`;

/** In base64; as plain text it is three quarters of that. */
const MOST_BASE64 = 65_536;
const MOST_BYTES = (MOST_BASE64 / 4) * 3;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Matches the base64 of every text that begins with `text`: its last character may share its bits with what follows. */
function encoded(text: string): string {
  const over = text.length % 3;
  const base64 = Buffer.from(text).toString("base64");
  if (over === 0) return base64;
  const certain = base64.replace(/.=+$/, "");
  const lowest = alphabet.indexOf(base64.charAt(certain.length));
  return `${certain}[${alphabet.slice(lowest, lowest + (over === 1 ? 16 : 4))}]`;
}

const begun = new RegExp(`^(${beginnings.map(encoded).join("|")})`);

/** First-boot configuration in base64; `hint` tells whoever has plain text the way. */
export function userDataField(hint = "") {
  return formed(
    /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
    MOST_BASE64,
    `must be base64 without line breaks${hint}`,
    [begun, `must be the base64 of a text that begins with ${listed}`],
  ).optional();
}

/** One line of authorized_keys: options, if any, the type, the key, and a comment, if any. */
export const publicKey =
  /^([^\s\p{Cc}-]([^\p{Cc}\p{Zl}\p{Zp}]|\t)*[ \t])?(ssh-(rsa|dss|ed25519)|ecdsa-sha2-nistp\d{3}|sk-[a-z0-9-]+@openssh\.com)[ \t]+AAAA([^\p{Cc}\p{Zl}\p{Zp}]|\t)*$/u;

/** Keys and configuration for the first boot of a machine; spread into whatever makes volumes. */
export const firstBootFields = {
  sshKeys: list(
    formed(
      publicKey,
      4096,
      "must be one public key on one line, as in authorized_keys: ssh-ed25519 AAAA… comment",
    ).describe("A public key in the form of authorized_keys."),
    { max: 100 },
  )
    .optional()
    .describe("Public keys for the default user. Used at creation only."),
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

interface FirstBoot {
  userData?: string | undefined;
  sshKeys?: string[] | undefined;
  userDataSecretRef?: { name: string; key: string } | undefined;
  imagePasswordSecretRef?: { name: string; key: string } | undefined;
}

/** Rules over the fields below `prefix`: `bootVolume.`. */
export const firstBootRules = (prefix = ""): Rule[] => {
  const self = `self.${prefix}`;
  const given = `(has(${self}userData) || has(${self}userDataSecretRef))`;
  return [
    {
      rule: `!(has(${self}userData) && has(${self}userDataSecretRef))`,
      message: `${prefix}userData and ${prefix}userDataSecretRef exclude each other: remove one of them`,
    },
    {
      rule: `!${given} || has(${self}image) || has(${self}imageAlias) || (has(${self}imageLookup) && (!has(${self}imageLookup.cloudInit) || ${self}imageLookup.cloudInit == 'V1'))`,
      message: `${prefix}userData needs an image with cloud-init: set image, imageAlias or an imageLookup that does not ask for cloudInit NONE`,
    },
    {
      rule: `!has(${self}imagePasswordSecretRef) || has(${self}image) || has(${self}imageAlias) || has(${self}imageLookup)`,
      message: `${prefix}imagePasswordSecretRef needs an image: set image, imageAlias or imageLookup`,
    },
  ];
};

export const firstBootImmutable = (prefix = ""): Record<string, string> => ({
  [`${prefix}sshKeys`]: "ssh keys are used at creation only",
  [`${prefix}userData`]: "user data is used at creation only",
  [`${prefix}userDataSecretRef`]: "user data is used at creation only",
  [`${prefix}imagePasswordSecretRef`]: "the password is used at creation only",
});

export const firstBootSecrets = (
  { userDataSecretRef, imagePasswordSecretRef }: FirstBoot,
  prefix = "",
): SecretInput[] =>
  Object.entries({ userDataSecretRef, imagePasswordSecretRef }).flatMap(([field, secret]) =>
    secret ? [{ field: `${prefix}${field}`, ...secret }] : [],
  );

/** What is wrong with what is in the Secrets; the API server cannot look into them. */
export const firstBootProblem = (given: FirstBoot, inputs: Pick<Inputs, "secrets">, prefix = "") =>
  userDataProblem(given, inputs, prefix) ?? passwordProblem(given, inputs, prefix);

function passwordProblem(
  { imagePasswordSecretRef: secret }: FirstBoot,
  { secrets }: Pick<Inputs, "secrets">,
  prefix: string,
): string | undefined {
  const field = `${prefix}imagePasswordSecretRef`;
  const password = secrets[field];
  if (!secret || password === undefined || /^[A-Za-z0-9]{8,}$/.test(password)) return undefined;
  return `${field}: ${secret.key} in Secret ${secret.name} must be 8 or more letters (A-Z, a-z) and digits`;
}

function userDataProblem(
  { userDataSecretRef }: FirstBoot,
  { secrets }: Pick<Inputs, "secrets">,
  prefix: string,
): string | undefined {
  const field = `${prefix}userDataSecretRef`;
  const text = secrets[field];
  if (!userDataSecretRef || text === undefined) return undefined;
  const value = `${field}: ${userDataSecretRef.key} in Secret ${userDataSecretRef.name}`;
  if (!beginnings.some((each) => text.startsWith(each))) {
    return `${value} must be plain text that begins with ${listed}`;
  }
  const size = Buffer.byteLength(text);
  return size > MOST_BYTES ? `${value} has ${size} bytes; at most ${MOST_BYTES} are allowed` : undefined;
}

/** Keys and configuration as the platform takes them: user data in base64. */
export function firstBootProperties(
  { sshKeys, userData }: FirstBoot,
  { secrets }: Pick<Inputs, "secrets">,
  prefix = "",
) {
  const secret = secrets[`${prefix}userDataSecretRef`];
  return {
    sshKeys,
    userData: secret === undefined ? userData : Buffer.from(secret).toString("base64"),
    imagePassword: secrets[`${prefix}imagePasswordSecretRef`],
  };
}
