/**
 * The address of a product: an Account's endpoint with `{region}` filled in. A region is given as a location
 * ("de/fra", "de/fra/2") or as a slug ("de-fra"); the second site of a location shares the services of the first.
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
  // It becomes part of a host name that credentials are sent to, so nothing may break out of it.
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)) throw new Error(`"${location}" is not a location like "de/fra"`);
  return slug;
}
