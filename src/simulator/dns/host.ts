import type { Host } from "../regional/service.ts";

export const dnsHost: Host = { path: "dns", privilege: "accessAndManageDns" };

export const dnsEndpoint = (api: string) => `${api}/${dnsHost.path}`;
