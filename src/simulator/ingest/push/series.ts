import { z } from "zod";
import { checked } from "../../core/kind/body.ts";
import { errorCode, type Refusal, refusal } from "../../http/refusal.ts";
import type { Series } from "../../telemetry/samples.ts";

/** 422: the body is not what its headers announce. */
export const broken = (why: string): Refusal => refusal(422, errorCode.validation, shortened(why));

/** 422: the body can be read, but its content is not accepted. */
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

const nonNumbers: Record<string, number> = {
  NaN: Number.NaN,
  "+Inf": Number.POSITIVE_INFINITY,
  "-Inf": Number.NEGATIVE_INFINITY,
};

const labelSchema = z.object({ name: z.string(), value: z.string() });

/** `{timeseries: [{labels: [{name, value}], samples: [{value, timestamp}]}]}`, timestamps in milliseconds. */
const requestSchema = z.object({
  timeseries: z.array(
    z.object({
      labels: z.array(labelSchema),
      samples: z.array(
        z.object({
          // JSON cannot express these three as numbers.
          value: z.union([z.number(), z.enum(["NaN", "+Inf", "-Inf"]).transform((word) => nonNumbers[word] ?? 0)], {
            error: 'must be a number, "NaN", "+Inf" or "-Inf"',
          }),
          timestamp: z.number({ error: "must be a number of milliseconds" }),
        }),
      ),
    }),
  ),
});

export type GivenLabel = z.output<typeof labelSchema>;
/** A series as it was sent, with labels in the order they came. */
export type GivenSeries = z.output<typeof requestSchema>["timeseries"][number];

/** The JSON form of a remote-write request. */
export function readJson(text: string): GivenSeries[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken("the body is not valid JSON");
  }
  return checked(requestSchema, value, "(root)").timeseries;
}

/** The series as they are kept; refuses what the remote-write protocol forbids. Series without samples are left out. */
export function accepted(given: readonly GivenSeries[]): Series[] {
  return given
    .map(({ labels, samples }, index) => {
      const where = `timeseries[${index}]`;
      checkLabels(where, labels);
      for (const { timestamp } of samples) {
        if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
          throw unacceptable(`${where} has a timestamp that is no whole number of milliseconds since 1970`);
        }
      }
      return { labels: Object.fromEntries(labels.map(({ name, value }) => [name, value])), samples };
    })
    .filter(({ samples }) => samples.length > 0);
}

function checkLabels(where: string, labels: readonly GivenLabel[]): void {
  let before = "";
  for (const { name, value } of labels) {
    const isValid = name === "__name__" ? /^[A-Za-z_:][\w:]*$/.test(value) : value !== "";
    if (!/^[A-Za-z_]\w*$/.test(name)) throw unacceptable(`${where} has a label name that is not valid: "${name}"`);
    if (name === before) throw unacceptable(`${where} has the label ${name} twice`);
    if (name < before) throw unacceptable(`${where} has labels that are not sorted: ${name} after ${before}`);
    if (!isValid) throw unacceptable(`${where} has a value of the label ${name} that is not valid: "${value}"`);
    before = name;
  }
  if (!labels.some(({ name }) => name === "__name__")) throw unacceptable(`${where} has no label __name__`);
}
