import { createPrivateKey, X509Certificate } from "node:crypto";

/** The forms of values in the Secrets of destinations: whether a value has it, and what is wrong if not. */
export const forms = {
  /** Sent in a header or an address. */
  plain: {
    matches: (value: string) => /^[\x20-\x7e]+$/.test(value),
    problem: "is empty or contains invalid characters: write it again, in one line of printable ASCII",
  },
  certificate: {
    matches: parses((value) => new X509Certificate(value)),
    problem: "is not a certificate in PEM",
  },
  privateKey: {
    matches: parses((value) => createPrivateKey(value)),
    problem: "is not a private key in PEM",
  },
};

function parses(parse: (value: string) => unknown): (value: string) => boolean {
  return (value) => {
    try {
      parse(value);
      return true;
    } catch {
      return false;
    }
  };
}
