/** The resource of an object, and what an object says of it. */
export interface Owned {
  namespace: string;
  name: string;
  id: string;
  /** `namespace/name`, also of another namespace: that of `--default-account`. */
  account: string;
  contract: number;
  endpoint: string;
}

const policies = { deletionPolicy: "Delete", managementPolicy: "Manage", replacePolicy: "Never" };
const standing = (message: string) => ({
  conditions: [
    {
      lastTransitionTime: "2026-11-16T02:55:17Z",
      message,
      observedGeneration: 1,
      reason: "Available",
      status: "True",
      type: "Ready",
    },
  ],
  observedGeneration: 1,
  parents: {},
  state: "AVAILABLE",
});

/** A Datacenter as the last version before signatures left it after half a minute of rest. */
export const formerDatacenter = ({ namespace, name, id, account, contract, endpoint }: Owned) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "Datacenter",
  metadata: {
    name,
    annotations: {
      "mooring.dev/external-id": `{"endpoint":"${endpoint}","contract":${contract},"id":"${id}","parents":{},"account":"${account}","owner":"${namespace}/${name}"}`,
    },
    finalizers: ["mooring.dev/finalizer"],
  },
  spec: { ...policies, location: "de/txl" },
  status: {
    ...standing("the datacenter is up to date"),
    account,
    contract,
    endpoint,
    fixed: { location: "fd1dffd5781c" },
    id,
    location: "de/txl",
    nonce: "f84def25-76c4-43f0-9894-1ef94f5ceb44",
    version: 1,
  },
});

/** An IPBlock as it left one that had just become Ready. */
export const formerIPBlock = ({ name, id, account, contract, endpoint }: Owned) => ({
  apiVersion: "mooring.dev/v1alpha1",
  kind: "IPBlock",
  metadata: {
    name,
    annotations: {
      "mooring.dev/intent": `{"nonce":"a3eb7c52-ed05-451a-999d-2dfc148fa12a","at":"2026-11-16T02:55:22.247Z","hash":"673b5e039b7af9f7b29153921a30ffed","parents":{},"account":"${account}","endpoint":"${endpoint}","fixed":{"location":"fd1dffd5781c","size":"6b86b273ff34"}}`,
    },
    finalizers: ["mooring.dev/finalizer"],
  },
  spec: { ...policies, location: "de/txl", size: 1 },
  status: {
    ...standing("the IP block is up to date"),
    account,
    contract,
    endpoint,
    fixed: { location: "fd1dffd5781c", size: "6b86b273ff34" },
    id,
    ips: ["198.18.0.3"],
    location: "de/txl",
    nonce: "a3eb7c52-ed05-451a-999d-2dfc148fa12a",
    size: 1,
  },
});
