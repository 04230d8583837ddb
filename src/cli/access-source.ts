import type { Credentials } from "../platform/calls/transport.ts";
import type { EndpointName } from "../platform/products/products.ts";

/** Where endpoints and credentials come from. Both throw with one line that says what to set. */
export interface AccessSource {
  endpoint(name: EndpointName): string;
  credentials(): Credentials;
}
