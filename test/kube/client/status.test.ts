import { expect, test } from "vitest";
import { isForbidden, isNamespaceTerminating, isTooManyRequests } from "../../../src/kube/client/errors.ts";
import { errorOf, errorOfEvent } from "../../../src/kube/client/status.ts";
import { status } from "../objects.ts";

const NOW = Date.UTC(2026, 0, 1);

const answered = (code: number, text: string, retryAfter?: string) =>
  errorOf({ method: "GET", path: "/x", status: code, text, retryAfter }, NOW);

test("Retry-After is read as seconds, as a date, or from the Status, and ignored when it is neither", () => {
  const body = JSON.stringify(status(429, "TooManyRequests", "slow down", { retryAfterSeconds: 2 }));
  expect(answered(429, body, "5").retryAfterMs).toBe(5000);
  expect(answered(429, body, "Thu, 01 Jan 2026 00:00:07 GMT").retryAfterMs).toBe(7000);
  expect(answered(429, body, "Thu, 01 Jan 1970 00:00:00 GMT").retryAfterMs).toBe(0);
  expect(answered(429, body).retryAfterMs).toBe(2000);
  expect(answered(429, "", "soon").retryAfterMs).toBeUndefined();
  expect(isTooManyRequests(answered(429, ""))).toBe(true);
});

test("a namespace that goes away is recognised among the causes", () => {
  const causes = [null, { reason: "NamespaceTerminating", field: "metadata.namespace" }];
  const error = answered(403, JSON.stringify(status(403, "Forbidden", "no", { causes })));
  expect([isNamespaceTerminating(error), isForbidden(error)]).toEqual([true, true]);
});

test("any answer becomes an error that can be read", () => {
  for (const text of ["", "null", "[]", '{"kind":"Status"}', '{"kind":"Status","details":null}', "plain"]) {
    expect(answered(500, text)).toMatchObject({ status: 500, reason: "InternalError" });
  }
  expect(answered(418, "").message).toBe("GET /x: 418 Unknown");
});

test("an ERROR event carries the Status' code, or counts as the server's failure", () => {
  expect(errorOfEvent(status(410, "Expired", "too old"), "/x")).toMatchObject({
    status: 410,
    reason: "Expired",
    message: "GET /x: 410 Expired: too old",
  });
  expect(errorOfEvent("nonsense", "/x")).toMatchObject({ status: 500 });
});
