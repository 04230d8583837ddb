import { replaced, type Subject } from "./subject.ts";
import { bootVolume, home, inDatacenter, inPlace } from "./surroundings.ts";

const spec = { ...inDatacenter, cores: 2, ram: 2048, bootVolume, nics: [{ name: "public", lan: 1 }] };
const grown = { ...spec, cores: 4, ram: 4096, bootVolume: { ...bootVolume, size: 20 } };
const web = { name: "web", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443 };
const guarded = { ...grown, nics: [{ name: "public", lan: 1, firewallActive: true, firewallRules: [web] }] };
const zone = { spec: { availabilityZone: "ZONE_1" }, shows: { availabilityZone: "ZONE_1" } };

export const server: Subject = {
  kind: "Server",
  spec,
  wire: {
    collection: "servers",
    path: inPlace("servers"),
    body: (name) => ({
      properties: { name, cores: 2, ram: 2048 },
      entities: {
        volumes: { items: [{ properties: { name: "os", ...bootVolume } }] },
        nics: { items: [{ properties: { name: "public", lan: 1, dhcp: true, firewallActive: false } }] },
      },
    }),
  },
  place: () => inDatacenter,
  change: () => ({ spec: { cores: 4 }, shows: { cores: 4 } }),
  fixedChange: zone,
  lists: {
    nics: {
      spec: { nics: [] },
      silent: { nics: undefined },
      members: async ({ id }, platform) => (await platform.resources("nics")).filter(({ serverId }) => serverId === id),
    },
  },
  needs: () => [home],
  life: () => {
    const replacement = replaced(grown, zone);
    return {
      changes: [
        { title: "update", spec: grown, shows: { cores: 4, ram: 4096 } },
        { title: "open a port", spec: guarded },
        { title: "connect", spec: { ...grown, nics: [...spec.nics, { name: "private", lan: 2 }] } },
        { title: "disconnect", spec: grown },
        replacement,
        { title: "stop", spec: { ...replacement.spec, powerState: "Stopped" }, shows: { vmState: "SHUTOFF" } },
      ],
    };
  },
};
