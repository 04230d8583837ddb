import type { IncomingMessage, ServerResponse } from "node:http";
import { costOf, type Usage } from "../kinds/inference/prices.ts";
import { bounded } from "./answer/bound.ts";
import { larger, type Meter, refusalMeter, streamMeter, wholeMeter } from "./answer/meter.ts";
import { pass } from "./answer/pass.ts";
import { redacting } from "./answer/redact.ts";
import type { Asked } from "./asked.ts";
import type { Counted, GatewayParts } from "./parts.ts";
import { Refused } from "./refused.ts";
import { translating } from "./responses/meter.ts";
import { attempt } from "./turn/attempts.ts";
import { type Understood, understand } from "./understand.ts";

export { RESPONSES } from "./understand.ts";

type Answered = Awaited<ReturnType<typeof attempt>>;

const none: Usage = { input: 0, output: 0 };

/**
 * The billable usage of an answer: the reported usage if it is complete and clear; else the reserved usage, or more if
 * more was seen.
 */
export function usedBy({ atMost }: Asked, meter: Meter, isWhole: boolean): Usage {
  const reported = meter.usage();
  if (reported !== undefined && !meter.isUnclear() && (isWhole || meter.isFinal())) return reported;
  return larger(larger(reported, { input: 0, output: meter.events }), atMost);
}

/** Measures an answer of the platform that is no refusal. */
function meterOf({ headers }: Answered, { hidesUsage }: Asked, responses: Understood["responses"]): Meter {
  const isStream = String(headers["content-type"]).startsWith("text/event-stream");
  const plain = isStream ? streamMeter(hidesUsage) : wholeMeter();
  return responses ? translating(plain, responses) : plain;
}

/** Whether an answer is compressed, although the gateway asks for none that is: it could read no usage and no token. */
const isCoded = ({ headers }: Answered): boolean =>
  [headers["content-encoding"], headers["transfer-encoding"]]
    .flatMap((value) => String(value ?? "").split(","))
    .some((coding) => !["", "identity", "chunked"].includes(coding.trim().toLowerCase()));

function unreadable({ body }: Answered): Refused {
  // Not read to its end, which may never come.
  body.on("error", () => {}).destroy();
  const message = "the platform compresses its answer, so the gateway cannot read it";
  return new Refused(502, "upstream_error", message, { retry: false });
}

/** Forwards calls and books their cost. The caller checks that the namespace has an access. */
export function createForward(parts: GatewayParts, checkExists: (model: string, signal: AbortSignal) => Promise<void>) {
  const { clock, log, bodies, metrics } = parts;

  /** Passes the platform's answer on. Reports its usage, even if the answer breaks off. */
  async function deliver(
    { asked, responses, sentTo, signal }: Pick<Understood, "asked" | "responses" | "sentTo"> & { signal: AbortSignal },
    answer: Answered,
    response: ServerResponse,
    used: (usage: Usage, isEmpty?: boolean) => void,
  ) {
    const { statusCode } = answer;
    // The client cannot fix the gateway's credentials, so it learns nothing about them.
    if (statusCode === 401 || statusCode === 403) {
      used(none);
      await answer.body.dump();
      log.error({ status: statusCode }, "the platform refuses the gateway's token");
      throw new Refused(502, "upstream_unauthorized", "the platform refuses the gateway's token");
    }
    const isRefusal = statusCode >= 400;
    if (isRefusal) used(none);
    if (statusCode === 404) await checkExists(asked.model, signal);
    if (isCoded(answer)) throw unreadable(answer);
    const plain = isRefusal ? refusalMeter() : meterOf(answer, asked, responses);
    // A platform may quote the gateway's own token.
    const meter = redacting(bounded(plain, asked.bound), answer.opaque.secrets);
    let isWhole = false;
    try {
      await pass(clock, answer, meter, response);
      isWhole = true;
    } finally {
      const hasContent = isRefusal || !isWhole || !sentTo.endsWith("/completions") || !meter.isEmpty();
      // A refusal without usage costs nothing.
      const isFree = isRefusal && plain.usage() === undefined && !plain.isUnclear();
      used(isFree ? none : usedBy(asked, meter, isWhole || isRefusal), !hasContent);
    }
  }

  /** Reads the body. Its bytes count against the namespace until they are released. */
  async function read(path: string, counted: Counted, request: IncomingMessage, response: ServerResponse) {
    const { bytes, release } = await bodies.read(request, counted.namespace, () => {
      if (request.headers.expect !== undefined) response.writeContinue();
    });
    try {
      return { ...understand(parts, bytes, path, counted), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  return async function forward(
    path: string,
    counted: Counted,
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace } = counted;
    const { asked, sentTo, access, price, responses, release } = await read(path, counted, request, response);
    try {
      const reservation = await parts.budgets.reserve(access, price ? costOf(asked.atMost, price) : 0);
      let usage = none;
      try {
        const answer = await attempt(
          {
            ...parts,
            shares: path.startsWith("/v1/images/") ? parts.imageShares : parts.shares,
            answered: metrics.upstream,
            waited: metrics.waited,
            // A client that disconnects now pays for everything that the platform may produce.
            underWay: (mayWork) => {
              usage = mayWork ? asked.atMost : none;
            },
          },
          namespace,
          { method: "POST", path: sentTo, body: asked.body },
          signal,
        );
        release();
        await deliver({ asked, responses, sentTo, signal }, answer, response, (used, isEmpty) => {
          usage = used;
          if (isEmpty) metrics.empty(namespace, asked.model);
        });
      } finally {
        const eur = price && costOf(usage, price);
        reservation.settle(eur ?? 0);
        metrics.used(namespace, asked.model, usage, eur);
      }
    } finally {
      release();
    }
  };
}
