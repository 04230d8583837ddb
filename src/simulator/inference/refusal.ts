import { errorCode, Refusal } from "../http/refusal.ts";

/** A refusal that names the parameter it is about. */
class InferenceRefusal extends Refusal {
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null, headers: Record<string, string>) {
    super(status, [{ errorCode: code, message }], headers);
    this.param = param;
  }
}

export const refusal = (
  status: number,
  code: string,
  message: string,
  param: string | null = null,
  headers: Record<string, string> = {},
) => new InferenceRefusal(status, code, message, param, headers);

/** The codes of this API for refusals of the rest of the simulator, by their error code. */
const codes: Record<string, string> = {
  [errorCode.unauthorized]: "invalid_api_key",
  [errorCode.tooMany]: "rate_limit_exceeded",
};

/** A refusal in the form that clients of chat-completion APIs know. */
export function inferencePayload(refused: Refusal): unknown {
  const code = refused.messages[0]?.errorCode ?? "";
  return {
    error: {
      message: refused.message,
      type: refused.status >= 500 ? "server_error" : "invalid_request_error",
      param: refused instanceof InferenceRefusal ? refused.param : null,
      code: codes[code] ?? (/^\d+$/.test(code) ? null : code),
    },
  };
}

/** The share of letter pairs that two similar names have in common. */
const ALIKE = 0.4;

/** The name that is most like the one given; undefined if none is like it. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const pairs = (text: string) =>
    new Set([...text.toLowerCase()].map((letter, at, all) => letter + (all[at + 1] ?? "")));
  const given = pairs(name.slice(0, 200));
  const likeness = (other: string) => {
    const own = pairs(other);
    return (2 * [...own].filter((pair) => given.has(pair)).length) / (own.size + given.size);
  };
  const [best] = names.toSorted((a, b) => likeness(b) - likeness(a));
  return best !== undefined && likeness(best) >= ALIKE ? best : undefined;
}
