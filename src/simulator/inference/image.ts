import { createHash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import type { Call, Reply } from "../http/exchange.ts";
import { bodyOf, imageBody } from "./body.ts";
import { checkContext, countTokens, modelOf } from "./models.ts";

/** Pictures that follow from the prompt: another prompt, other colours. */
export function draw(call: Call): Reply {
  const { model: id, prompt, n, size } = bodyOf(imageBody, call.body);
  const model = modelOf(id, "image");
  checkContext(model, countTokens(prompt), 0, "prompt");
  const [width = 0, height = 0] = (size ?? "1024x1024").split("x").map(Number);
  return {
    status: 200,
    body: {
      created: Math.floor(call.at / 1000),
      data: Array.from({ length: n ?? 1 }, (_, index) => ({
        b64_json: png(width, height, createHash("sha512").update(`${id}\n${prompt}\n${index}`).digest()).toString(
          "base64",
        ),
        revised_prompt: prompt,
      })),
    },
  };
}

const tile = 64;

/** Tiles in sixteen colours, four bits each. */
function png(width: number, height: number, chance: Buffer): Buffer {
  const bytesPerRow = width / 2;
  const rows = Array.from({ length: height / tile }, (_, down) => {
    const row = Buffer.alloc(1 + bytesPerRow);
    for (let across = 0; across < width / tile; across += 1) {
      const colour = (chance[(down * 7 + across) % chance.length] ?? 0) & 15;
      row.fill(colour * 17, 1 + (across * tile) / 2, 1 + ((across + 1) * tile) / 2);
    }
    return row;
  });
  const picture = Buffer.concat(rows.flatMap((row) => Array.from({ length: tile }, () => row)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([4, 3], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", chance.subarray(0, 48)),
    chunk("IDAT", deflateSync(picture, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const framed = Buffer.alloc(8 + named.length);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), 4 + named.length);
  return framed;
}
