import type { Credentials } from "../platform/calls/transport.ts";
import type { EndpointName } from "../platform/products/products.ts";

/** Endpoints and credentials of a command. Both functions throw a one-line message that says what to set. */
export interface AccessSource {
  endpoint(name: EndpointName): string;
  credentials(): Credentials;
}
