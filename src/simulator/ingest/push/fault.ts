import { errorCode, type Refusal, refusal } from "../../http/refusal.ts";

/** 422: the body is not what its headers say. */
export const broken = (why: string): Refusal => refusal(422, errorCode.validation, shortened(why));

/** 422: the body can be read, but what it says is not taken. */
export const unacceptable = (why: string): Refusal => refusal(422, errorCode.validation, shortened(why));

/** The reason may quote what was sent, of whatever length. */
const shortened = (why: string) => `[(root)] ${why.slice(0, 300)}`;

export const tooLarge = (most: number): Refusal =>
  refusal(413, errorCode.validation, `[(root)] the body is larger than ${most} bytes when uncompressed`);

const decoder = new TextDecoder("utf-8", { fatal: true });

export function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw broken("the body holds text that is not UTF-8");
  }
}
