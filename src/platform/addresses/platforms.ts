/**
 * Platforms whose endpoints are known. `{region}` is the region of an Account, as in configured endpoints.
 *
 * The hosts are those that the platform's public clients use: its SDKs (servers of each product), its Terraform provider
 * (object storage: the default of that client) and its documentation (inference). docs/endpoints.md lists the regions of each
 * product.
 */
export const platforms = {
  ionos: {
    api: "https://api.ionos.com",
    monitoring: "https://monitoring.{region}.ionos.com",
    logging: "https://logging.{region}.ionos.com",
    streaming: "https://kafka.{region}.ionos.com",
    inference: "https://openai.inference.de-txl.ionos.com",
    objectStorage: "https://s3.eu-central-3.ionoscloud.com",
    objectStorageManagement: "https://s3.ionos.com",
    dns: "https://dns.de-fra.ionos.com",
    certificates: "https://certificate-manager.de-fra.ionos.com",
  },
} as const;

export type PlatformName = keyof typeof platforms;

export const platformNames = Object.keys(platforms).filter(isPlatformName);

export function isPlatformName(name: string): name is PlatformName {
  return Object.hasOwn(platforms, name);
}

/** The endpoints of a platform; none without a name. Throws for an unknown name, and lists the valid ones. */
export function endpointsOfPlatform(name: string | undefined): Partial<(typeof platforms)[PlatformName]> {
  if (name === undefined || name === "") return {};
  if (isPlatformName(name)) return platforms[name];
  throw new Error(`"${name}" is unknown; valid: ${platformNames.join(", ")}`);
}
