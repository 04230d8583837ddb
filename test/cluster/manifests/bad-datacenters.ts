import { datacenter } from "./base.ts";
import { bad, long } from "./table.ts";

export const badDatacenters = [
  ...bad(datacenter, "Datacenter", [
    ["no location", { location: null }, "spec", "location is required"],
    ["observed without an id", { managementPolicy: "Observe" }, "spec", "managementPolicy Observe needs externalId"],
    ["an externalId with a slash", { externalId: "a/b" }, "spec.externalId", "must be a UUID"],
    ["an externalId that leads elsewhere", { externalId: ".." }, "spec.externalId", "must be a UUID"],
    ["a name of two lines", { name: "a\nb" }, "spec.name", "must be one line without control characters"],
    ["a name with a line separator", { name: "a\u2028b" }, "spec.name", "must be one line"],
    ["an escape in a description", { description: "a\u001b[2Jb" }, "spec.description", "must not contain control char"],
    ["an unknown replacePolicy", { replacePolicy: "Always" }, "spec.replacePolicy", "Unsupported value"],
    [
      "a city as location",
      { location: "Berlin" },
      "spec.location",
      "must be a location <country>/<site>, for example de/txl",
    ],
    ["an empty location", { location: "" }, "spec.location", "must be a location"],
    ["a location as a number", { location: 7 }, "spec.location", "must be of type string"],
    ["an empty name", { name: "" }, "spec.name", "at least 1 chars long"],
    ["a name of 256 characters", { name: long(256) }, "spec.name", "255"],
    ["a description of 1025 characters", { description: long(1025) }, "spec.description", "1024"],
    [
      "another deletion policy",
      { deletionPolicy: "Orphan" },
      "spec.deletionPolicy",
      'supported values: "Delete", "Retain"',
    ],
    ["an Account as text", { accountRef: "main" }, "spec.accountRef", "must be of type object"],
    ["an Account without a name", { accountRef: {} }, "spec.accountRef.name", "Required value"],
    [
      "an Account of another namespace",
      { accountRef: { name: "other/main" } },
      "spec.accountRef.name",
      "must be the name of an object",
    ],
    ["an unknown field", { locaton: "de/txl" }, 'unknown field "spec.locaton"'],
  ]),
];
