import { replaced, type Subject } from "../../subject.ts";
import { bootVolume, home, inDatacenter, inPlace } from "../../surroundings.ts";
import { accepted } from "./server/accepted.ts";
import { base, spec } from "./server/bases.ts";
import { acceptedChanges, refusedChanges } from "./server/changes.ts";
import { refused } from "./server/refused.ts";
import { refusedBootVolumes } from "./server/refused-boot-volumes.ts";
import { refusedNics } from "./server/refused-nics.ts";

const grown = { ...spec, cores: 4, ram: 4096, bootVolume: { ...bootVolume, size: 20 } };
const web = { name: "web", protocol: "TCP", portRangeStart: 443, portRangeEnd: 443 };
const guarded = { ...grown, nics: [{ name: "public", lan: 1, firewallActive: true, firewallRules: [web] }] };
const zone = { spec: { availabilityZone: "ZONE_1" }, shows: { availabilityZone: "ZONE_1" } };

export const subject: Subject = {
  ...base,
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
  manifests: {
    accepted,
    refused: [...refused, ...refusedBootVolumes, ...refusedNics],
    changes: { accepted: acceptedChanges, refused: refusedChanges },
  },
};
