import { describe, expect, it } from "vitest";
import { account, readAccountSpec } from "../../../src/kinds/identity/account.ts";

const smallest = { endpoints: { api: "https://api.example.com" }, credentialsSecretRef: { name: "platform-token" } };

describe("an Account", () => {
  it("finds the token under the key token unless told otherwise", () => {
    expect(readAccountSpec(smallest).credentialsSecretRef).toEqual({ name: "platform-token", key: "token" });
    const spec = { ...smallest, credentialsSecretRef: { name: "platform-token", key: "bearer" } };
    expect(readAccountSpec(spec).credentialsSecretRef.key).toBe("bearer");
  });

  it("knows no address but the ones given", () => {
    expect(readAccountSpec(smallest).endpoints).toEqual({ api: "https://api.example.com" });
  });

  it.each([
    "api.example.com",
    "ftp://api.example.com",
    "https://api.example.com/v6",
    "https://me:pass@example.com",
    "https://api.example.com\u0000",
    "https://api.exa\u001bmple.com",
    "https://api.example.com\u0085/",
    "https://api.example.com\u2028",
    "",
  ])("does not take %j for the address of the API", (api) => {
    expect(() => readAccountSpec({ ...smallest, endpoints: { api } })).toThrow("must be an http or https URL");
  });

  it.each(["dns", "logging"])("does not take a path with control characters for an address of %s", (name) => {
    const url = "https://api.example.com/a\u007fb";
    expect(() => readAccountSpec({ ...smallest, endpoints: { [name]: url } })).toThrow("must be an http or https URL");
  });

  it("has nothing of its own on the platform", () => {
    expect(account.resource).toBeUndefined();
  });
});
