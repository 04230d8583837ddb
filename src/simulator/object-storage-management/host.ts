import type { Host } from "../managed/service.ts";

export const managementHost: Host = { path: "object-storage-management", privilege: "s3Privilege" };

export const managementEndpoint = (api: string) => `${api}/${managementHost.path}`;
