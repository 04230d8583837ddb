export const basePath = "/cloudapi/v6";

/** The absolute URL of a resource or collection by its key. */
export const hrefOf = (origin: string, key: string) => `${origin}${basePath}/${key}`;

/** The key of the datacenter that something lies in: `datacenters/<id>`. */
export const datacenterOf = (key: string): string => key.split("/", 2).join("/");
