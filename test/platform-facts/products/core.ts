import type { Fact } from "../fact.ts";

const paths = "test/simulator/process/every-path.test.ts";
const datacenters = "test/simulator/core/compute/datacenters.test.ts";
const servers = "test/simulator/core/compute/servers.test.ts";
const requests = "test/simulator/core/requests.test.ts";
const collections = "test/simulator/core/collections.test.ts";

/** The core API: datacenters, requests and collections. */
export const core: readonly Fact[] = [
  [26, "a server is below its datacenter", paths, "%s answers"],
  [27, "a parent must be DONE", servers, "in a datacenter that cannot be seen yet is 404, in a BUSY one 422"],
  [28, "servers go with their datacenter", datacenters, "is accepted without a body, shows it BUSY, and removes it"],
  [
    29,
    "bodies have properties",
    "test/kinds/compute/server/body.test.ts",
    "of a vCPU server, with nothing but its size",
  ],
  [30, "what is made has id and type", datacenters, "is accepted with the new id, BUSY"],
  [
    31,
    "a location is a country and a site",
    "test/kinds/compute/datacenter.test.ts",
    "is not tried with a location that",
  ],
  [32, "a datacenter has a name", datacenters, "refuses %s", "no name"],
  [33, "a datacenter has a location", datacenters, "refuses %s", "no location", "an unknown location"],
  [34, "POST is 202, with id, request and BUSY", datacenters, "is accepted with the new id, BUSY"],
  [35, "PUT is 202 and BUSY", datacenters, "by %s is BUSY with the new values until its request is DONE", "PUT"],
  [36, "a request goes from BUSY to DONE", requests, "goes from BUSY to DONE, with its targets"],
  [37, "or from BUSY to FAILED", requests, "ends FAILED with the reason"],
  [38, "nothing goes below a BUSY parent", servers, "is refused while it is BUSY"],
  [39, "404 after a creation is not ready", datacenters, "cannot be seen at first, then is BUSY, then AVAILABLE"],
  [40, "a server is BUSY, then AVAILABLE", servers, "with volumes and NICs inline answers with the ids of all"],
  [41, "the status of a request has its path", requests, "goes from BUSY to DONE, with its targets"],
  [42, "all calls need Authorization", paths, "%s asks for credentials"],
  [43, "collections take depth", collections, "at 3 lists servers with the properties of their volumes and NICs"],
  [44, "offset is 0 by default", collections, "names collections by their path tail"],
  [45, "limit is 1000 by default", collections, "default to 1000 items, also for IP blocks"],
  [46, "a short page is the last", "test/platform/products/paging.test.ts", "of %i items takes %i pages"],
  [47, "GET /datacenters has items", collections, "gives references of exactly id, type and href"],
  [48, "POST /datacenters tells the request", datacenters, "is accepted with the new id, BUSY"],
  [49, "servers are listed and made", collections, "at 3 lists servers with the properties of their volumes and NICs"],
  [50, "a server is read", servers, "with volumes and NICs inline answers with the ids of all"],
  [51, "a server is changed by PATCH", servers, "grows cores and RAM and changes the CPU family"],
  [52, "DELETE of a server is asynchronous", servers, "keeps its volumes by default, without a server"],
  [
    53,
    "POST /ipblocks gives addresses",
    "test/simulator/core/network/ip-blocks.test.ts",
    "tell their addresses in the",
  ],
  [54, "GET of the status of a request", requests, "goes from BUSY to DONE, with its targets"],
  [55, "volumes, snapshots and other children", paths, "%s answers"],
];
