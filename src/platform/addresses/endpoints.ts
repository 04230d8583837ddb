/**
 * The URL of a product: an Account's endpoint with `{region}` replaced. A region is a location ("de/fra", "de/fra/2") or a slug
 * ("de-fra"). The second site of a location uses the services of the first.
 */
export function endpointUrl(template: string, region: string | undefined): string {
  const url = template.trim().replace(/\/+$/, "");
  if (!url.includes("{region}")) return url;
  if (region === undefined || region.trim() === "") {
    throw new Error(`the endpoint ${template} needs a region: set spec.region, for example "de/fra"`);
  }
  return url.replaceAll("{region}", slugOf(region));
}

/** "de/fra/2" → "de-fra". */
export function slugOf(location: string): string {
  const slug = location.trim().toLowerCase().split("/").slice(0, 2).join("-");
  // The slug becomes part of a host name that credentials are sent to, so it must not contain anything else.
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) throw new Error(`"${location}" is not a location like "de/fra"`);
  return slug;
}
