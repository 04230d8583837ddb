import { describe, expect, test } from "vitest";
import { endpointUrl } from "../../../src/platform/addresses/endpoints.ts";
import { routeOf } from "../../../src/platform/calls/route.ts";

describe("an endpoint", () => {
  test.each([
    ["https://logging.{region}.example", "de/fra", "https://logging.de-fra.example"],
    ["https://logging.{region}.example/", "de/fra/2", "https://logging.de-fra.example"],
    ["https://logging.{region}.example", "de-txl", "https://logging.de-txl.example"],
    ["http://127.0.0.1:8080/logging", undefined, "http://127.0.0.1:8080/logging"],
  ])("%s in %s is %s", (template, region, url) => {
    expect(endpointUrl(template, region)).toBe(url);
  });

  test("that needs a region says so", () => {
    expect(() => endpointUrl("https://kafka.{region}.example", undefined)).toThrow("needs a region: set spec.region");
  });

  test.each(["evil.example/", "de/fra@evil", "..", " ", "de fra"])("refuses %j as a region", (region) => {
    expect(() => endpointUrl("https://kafka.{region}.example", region)).toThrow(Error);
  });
});

describe("a route", () => {
  const id = "0b1f6f0e-93a5-4c1d-8f0e-7d5f3d6f1a2b";
  test.each([
    [`/cloudapi/v6/datacenters/${id}/servers/${id}/volumes`, "/cloudapi/v6/datacenters/{id}/servers/{id}/volumes"],
    [
      `/cloudapi/v6/datacenters/${id}/volumes/${id}/create-snapshot`,
      "/cloudapi/v6/datacenters/{id}/volumes/{id}/create-snapshot",
    ],
    [`/cloudapi/v6/datacenters/${id}/lans/1`, "/cloudapi/v6/datacenters/{id}/lans/{id}"],
    [`/cloudapi/v6/datacenters/${id}/labels/owner`, "/cloudapi/v6/datacenters/{id}/labels/{id}"],
    ["/cloudapi/v6/locations/de/fra", "/cloudapi/v6/locations/{id}/{id}"],
    [`/cloudapi/v6/um/users/${id}/s3keys/00ab12cd34`, "/cloudapi/v6/um/users/{id}/s3keys/{id}"],
    [`/autoscaling/v1.ea/groups/${id}/actions`, "/autoscaling/v1.ea/groups/{id}/actions"],
    ["/activitylog/v1/contracts/31000000", "/activitylog/v1/contracts/{id}"],
    ["/cloudapi/v6/k8s/versions/default", "/cloudapi/v6/k8s/versions/default"],
    ["/", "/"],
  ])("of %s is %s", (path, route) => {
    expect(routeOf(path)).toBe(route);
  });
});
