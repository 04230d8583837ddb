const removed = "[removed]";

/** Fields whose value is secret in any answer. */
const secretNames = new Set(
  [
    ...["privateKey", "secretKey", "keySecret", "clientSecret", "secret", "sharedSecret", "password", "imagePassword"],
    ...[
      "token",
      "accessToken",
      "refreshToken",
      "authToken",
      "apiKey",
      "ingestKey",
      "userData",
      "kubeconfig",
      "authorization",
    ],
    ...["ssoUrl", "secretAccessKey", "passphrase", "credentials"],
  ].map((name) => name.toLowerCase()),
);
const isSecret = (name: string) => secretNames.has(name.replaceAll(/[_-]/g, "").toLowerCase());

/** Hides a word that is or has a JSON Web Token. A pattern for it would take quadratic time for a text that is made for that. */
const withoutToken = (word: string): string =>
  word.includes("eyJ") && word.split(".").filter((part) => part.length >= 8).length >= 2 ? removed : word;

const patterns: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, removed],
  [/\b(Bearer|Basic) [\w+/=.~-]{8,}/g, `$1 ${removed}`],
  // Credentials in URLs.
  [/([?&#](?:token|access_token|password|secret|signature|x-amz-[a-z-]+|key)=)[^&#\s"]+/gi, `$1${removed}`],
  [/(\/\/[^/\s:@]+:)[^/\s@]+@/g, `$1${removed}@`],
];

function cleaned(text: string): string {
  const json = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  if (json !== undefined) return JSON.stringify(withoutSecrets(json));
  const plain = text.replaceAll(/[\w.-]+/g, withoutToken);
  return patterns.reduce((left, [pattern, instead]) => left.replaceAll(pattern, instead), plain);
}

/** Request bodies may be JSON inside a JSON string. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Removes private keys, secrets, tokens and passwords at any depth. All tools use this function. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return cleaned(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const hides = isSecret(name) && inner !== null && inner !== "" && typeof inner !== "boolean";
      return [name, hides ? removed : withoutSecrets(inner)];
    }),
  );
}
