import { expect, test } from "vitest";
import { inTurn } from "../../../src/platform/pace/list-turns.ts";

const never = new AbortController().signal;
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test("eight lists of an Account are read from one host at a time, and others do not wait for them", async () => {
  const [connection, other] = [{}, {}];
  const ends: (() => void)[] = [];
  const began: string[] = [];
  const list = (name: string, of = connection, host = "a", signal = never) =>
    inTurn(of, host, signal, () => {
      began.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const first = Array.from({ length: 8 }, (_, index) => list(`${index}`));
  const leaving = new AbortController();
  const gone = list("gone", connection, "a", leaving.signal);
  const last = list("last");
  const elsewhere = [list("other Account", other), list("other host", connection, "b")];
  await settle();
  expect(began).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "other Account", "other host"]);
  leaving.abort(new Error("closed"));
  await expect(gone).rejects.toThrow("closed");
  ends[0]?.();
  await settle();
  expect(began.at(-1)).toBe("last");
  for (const end of ends) end();
  await Promise.all([...first, last, ...elsewhere]);
});

test("a list that fails leaves its place", async () => {
  const connection = {};
  const failing = Array.from({ length: 20 }, () =>
    inTurn(connection, "a", never, async () => {
      await settle();
      throw new Error("no");
    }),
  );
  expect((await Promise.allSettled(failing)).every(({ status }) => status === "rejected")).toBe(true);
  expect(await inTurn(connection, "a", never, async () => "listed")).toBe("listed");
});
