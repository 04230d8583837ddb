import { type Service, serviceEndpoint, serviceHref } from "../managed/service.ts";

const slugs = ["de-fra", "de-txl", "es-vit", "fr-par", "gb-bhx", "gb-lhr", "us-ewr", "us-las", "us-mci"];

/** Event streaming. Every user of the contract may call it. */
export const streaming: Service = { path: "streaming", regions: new Set(slugs) };

export const streamingEndpoint = (api: string) => serviceEndpoint(api, streaming);

export const hrefOf = (origin: string, region: string, path: string) => serviceHref(origin, streaming, region, path);
