import { expect } from "vitest";
import { type CallOptions, items, platformForFile, resource } from "../platform.ts";

/** Calls of the DNS of a platform that the file starts. */
export async function dnsForFile() {
  const platform = await platformForFile();

  const dns = (method: string, path: string, body?: unknown, options?: CallOptions) =>
    platform.call(method, `/dns${path}`, body, options);

  async function made(collection: string, properties: object): Promise<string> {
    const answer = await dns("POST", collection, { properties });
    expect(answer).toMatchObject({ status: 202, body: { metadata: { state: "PROVISIONING" } } });
    await platform.advance(5);
    return `${collection}/${resource(answer).id}`;
  }
  let count = 0;
  const newZone = (properties: object = {}) => made("/zones", { zoneName: `zone-${count++}.example`, ...properties });
  const names = async (path: string) => items(await dns("GET", path)).map(({ properties }) => Object(properties).name);

  return { platform, dns, made, newZone, names };
}
