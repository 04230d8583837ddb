import { randomBytes } from "node:crypto";
import { encode } from "@msgpack/msgpack";
import { type SharedKey, sharedKeys } from "../../pipelines/keys.ts";
import { objection, type Pipeline, pipelineOf, takesData } from "../../records/pipelines.ts";
import type { Contracts, World } from "../../world.ts";
import { greet, helo, largestHandshake } from "./handshake.ts";
import { BrokenInput, createCutter } from "./messagepack.ts";
import { type Batch, batchIn, largestMessage } from "./messages.ts";

/** One connection of the forward protocol without its socket: takes bytes and gives the bytes to send. */
export interface ForwardSession {
  /** The first message of the listener. */
  opening(): Uint8Array;
  /**
   * Takes the next bytes and gives the answers. Throws `BrokenInput` when the connection has to be closed without one.
   * `ends`: the answer is the last one.
   */
  take(piece: Uint8Array): { answers: Uint8Array[]; ends: boolean };
  isAdmitted(): boolean;
}

type Sender = Pick<SharedKey, "world" | "pipeline">;

export function createForwardSession(contracts: Contracts): ForwardSession {
  const nonce = randomBytes(16);
  const handshake = createCutter(largestHandshake);
  const transport = createCutter(largestMessage);
  let sender: Sender | undefined;

  function shakeHands(piece: Uint8Array): { answers: Uint8Array[]; ends: boolean } {
    const [first, ...extra] = handshake.cut(piece);
    if (first === undefined) return { answers: [], ends: false };
    const greeting = greet(first, nonce, contracts.all().flatMap(sharedKeys));
    if (greeting === undefined || extra.length > 0 || handshake.isIncomplete()) {
      throw new BrokenInput("the first message must be a PING and nothing else");
    }
    sender = greeting.sender;
    return { answers: [greeting.answer], ends: sender === undefined };
  }

  /** The sender's pipeline. A replaced key ends the connections that were opened with it. */
  function pipelineNow({ world, pipeline: { id, keyVersion } }: Sender): Pipeline {
    const pipeline = pipelineOf(world, "logs", id);
    if (pipeline === undefined || pipeline.keyVersion !== keyVersion || !takesData(pipeline)) {
      throw new BrokenInput("the key of this connection is no longer valid");
    }
    return pipeline;
  }

  return {
    opening: () => helo(nonce),
    isAdmitted: () => sender !== undefined,
    take(piece) {
      contracts.first.agenda.run();
      if (sender === undefined) return shakeHands(piece);
      const pipeline = pipelineNow(sender);
      const answers: Uint8Array[] = [];
      for (const message of transport.cut(piece)) {
        const batch = batchIn(message);
        if (batch === undefined) continue;
        keep(sender.world, pipeline, batch);
        if (batch.chunk !== undefined) answers.push(encode({ ack: batch.chunk }));
      }
      return { answers, ends: false };
    },
  };
}

/**
 * The protocol cannot refuse a tag. Lines with a wrong tag are counted and acknowledged: without an acknowledgement an
 * agent would send them again forever.
 */
function keep(world: World, pipeline: Pipeline, { tag, entries }: Batch): void {
  const reason = objection(pipeline, tag, "tcp");
  const lines = entries.map((entry) => ({ tag, ...entry }));
  if (reason === undefined) world.lines.add(pipeline.id, lines);
  else world.lines.refuse(pipeline.id, lines.length, reason);
}
