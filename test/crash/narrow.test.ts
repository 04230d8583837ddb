import { describe, expect, it } from "vitest";
import { narrowedTo } from "./narrow.ts";

const narrowed = narrowedTo("shop");

describe("the view of an operator for all namespaces on a shared API server", () => {
  it.each([
    ["/apis/mooring.dev/v1alpha1/servers?watch=true", "/apis/mooring.dev/v1alpha1/namespaces/shop/servers?watch=true"],
    ["/api/v1/secrets?limit=1", "/api/v1/namespaces/shop/secrets?limit=1"],
  ])("of %s is what is in one namespace", (asked, answered) => {
    expect(narrowed(asked)).toBe(answered);
  });

  it.each(["/api/v1/namespaces", "/apis/mooring.dev/v1alpha1/clusteraccounts"])("of %s is one object", (path) => {
    expect(narrowed(path)).toBe(`${path}?fieldSelector=metadata.name%3Dshop`);
  });

  it.each([
    "/api/v1/namespaces/shop",
    "/api/v1/namespaces/shop/secrets/token",
    "/apis/mooring.dev/v1alpha1/clusteraccounts/shop/status?fieldManager=mooring",
  ])("is all of %s", (url) => {
    expect(narrowed(url)).toBe(url);
  });
});
