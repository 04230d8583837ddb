import type { Host } from "../managed/service.ts";

export const dnsHost: Host = { path: "dns", privilege: "accessAndManageDns" };

export const dnsEndpoint = (api: string) => `${api}/${dnsHost.path}`;
