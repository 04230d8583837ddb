import { createPrivateKey, X509Certificate } from "node:crypto";
import { unlessThrown } from "../../runtime/unless-thrown.ts";

/** The forms of values in the Secrets of destinations: whether a value has it, and what is wrong if not. */
export const valueForms = {
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

export type ValueForm = keyof typeof valueForms;

function parses(parse: (value: string) => object): (value: string) => boolean {
  return (value) => unlessThrown(() => parse(value)) !== undefined;
}
