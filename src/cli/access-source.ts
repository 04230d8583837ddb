import type { EndpointName } from "../platform/products.ts";
import type { Credentials } from "../platform/transport.ts";

/** Where endpoints and credentials come from. Both throw with one line that says what to set. */
export interface AccessSource {
  endpoint(name: EndpointName): string;
  credentials(): Credentials;
}
