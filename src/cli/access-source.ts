import type { EndpointName } from "../platform/addresses/endpoints.ts";
import type { Credentials } from "../platform/calls/transport.ts";

/** Endpoints and credentials of a command. Both functions throw a one-line message that says what to set. */
export interface AccessSource {
  endpoint(name: EndpointName): string;
  credentials(): Credentials;
}
