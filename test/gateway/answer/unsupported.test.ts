import { expect, it } from "vitest";
import { bodyIn } from "../../../src/gateway/asked.ts";

const bodyWith = (fields: object) => bodyIn(Buffer.from(JSON.stringify({ model: "m", ...fields })));

it.each(["priority", "kv_transfer_params", "mm_processor_kwargs", "prompt_embeds", "documents"])(
  "a call with %s is refused, and the message says what to do; null is as nothing",
  (name) => {
    for (const value of [1, "AAAA", {}, [{ text: "a" }]]) {
      expect(() => bodyWith({ [name]: value })).toThrow(`${name}: is not supported: leave it out`);
    }
    expect(bodyWith({ [name]: null }).fields.model).toBe("m");
  },
);
