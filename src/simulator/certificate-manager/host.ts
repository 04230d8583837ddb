import type { Host } from "../managed/service.ts";

export const certificateHost: Host = { path: "certificate-manager", privilege: "accessAndManageCertificates" };

export const certificateEndpoint = (api: string) => `${api}/${certificateHost.path}`;
