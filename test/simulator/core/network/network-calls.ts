import { networkOf } from "../../network.ts";
import { platformForFile, resource } from "../../platform.ts";

/** Makes what belongs to the network of a server, on a platform that the file starts. */
export async function serverForFile() {
  const platform = await platformForFile();
  const datacenter = await platform.datacenter();
  const server = await platform.made(`${datacenter}/servers`, { properties: { name: "s", cores: 1, ram: 1024 } });

  const lan = async (properties: object = {}) =>
    resource(await platform.done("POST", `${datacenter}/lans`, { properties })).id;
  const nic = (properties: object) => platform.made(`${server}/nics`, { properties });
  const postNic = (properties: object) => platform.core("POST", `${server}/nics`, { properties });
  const { block } = networkOf(platform);

  return { platform, datacenter, server, lan, nic, postNic, block };
}
