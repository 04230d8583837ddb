import type { Fact } from "../fact.ts";

const servers = "test/simulator/core/compute/servers.test.ts";
const volumes = "test/simulator/core/compute/volumes.test.ts";
const cubes = "test/simulator/core/compute/cubes.test.ts";
const snapshots = "test/simulator/core/compute/snapshots.test.ts";
const ipBlocks = "test/simulator/core/network/ip-blocks.test.ts";
const block = "test/kinds/network/ipblock.test.ts";
const catalogue = "test/simulator/core/catalogue.test.ts";
const body = "test/kinds/compute/server/body.test.ts";
const nics = "test/kinds/compute/server/nics.test.ts";
const boot = "test/kinds/fields/first-boot.test.ts";

/** Servers, volumes, Cubes, addresses and snapshots. */
export const compute: readonly Fact[] = [
  [58, "a server has a name", body, "of a Dedicated Core server, with everything"],
  [59, "at most 62 dedicated cores", servers, "refuses %s", "63 cores"],
  [60, "at most 60 vCPUs", servers, "refuses %s", "61 vCPUs"],
  [61, "RAM in steps of 256 MB", servers, "refuses %s", "RAM between the steps", "RAM between the steps for vCPUs"],
  [62, "at most 230 GB of RAM", catalogue, "lets no server have more than 62 cores or 60 vCPUs and 230 GB"],
  [63, "a CPU family can be chosen", servers, "accepts %s", "Skylake processors", "Ice Lake processors"],
  [64, "and changed", servers, "grows cores and RAM and changes the CPU family of a Dedicated Core server"],
  [
    65,
    "but not of a vCPU server",
    "test/simulator/process/own-clients.test.ts",
    "does not let the family of a VCPU server",
  ],
  [66, "whose family stays", servers, "refuses to change %s", "the CPU family of a vCPU server"],
  [67, "Milan and Turin", servers, "accepts %s", "Milan processors", "Turin processors"],
  [68, "four older Intel families", catalogue, "list every CPU family but the legacy one"],
  [69, "Sierra Forest", servers, "accepts %s", "Sierra Forest processors"],
  [70, "zones of servers", servers, "accepts %s", "ZONE_1", "ZONE_2", "the zone AUTO"],
  [71, "no ZONE_3 for servers", servers, "refuses %s", "ZONE_3"],
  [72, "types of servers", servers, "refuses %s", "an unknown type"],
  [73, "a Cube needs a template", cubes, "is refused %s", "without a template"],
  [74, "a boot volume with the server", servers, "with volumes and NICs inline answers with the ids of all of them"],
  [75, "a NIC with the server", servers, "with volumes and NICs inline answers with the ids of all of them"],
  [76, "a NIC has a LAN", nics, "becomes the number of the LAN and the addresses in its place"],
  [77, "a NIC has a name", body, "gives each NIC the defaults of its fields"],
  [78, "a NIC has DHCP or not", body, "of a Dedicated Core server, with everything"],
  [79, "a NIC has a firewall", "test/kinds/compute/server/firewall.test.ts", "is created with its rules in one write"],
  [80, "a NIC takes reserved addresses", ipBlocks, "tell their addresses in the answer to their creation"],
  [82, "a volume has a name", body, "names the boot volume after the server"],
  [83, "volume sizes are whole GB", volumes, "refuses %s", "half a GB"],
  [84, "types of disks", volumes, "of type %s gives %s", "HDD", "SSD Standard", "SSD Premium"],
  [85, "DAS is for Cubes", cubes, "DAS exists nowhere but in a new Cube"],
  [86, "an image is found by a lookup", "test/kinds/fields/images.test.ts", "is the image that was found"],
  [87, "ssh keys go with the creation", boot, "are asked for by name and key, and follow those in spec"],
  [88, "user data is base64", body, "goes to the platform in base64, and the reference does not"],
  [89, "user data counts once", "test/kinds/compute/volume/volume.test.ts", "user data, keys and the image count at"],
  [90, "the licence of a Cube's volume", body, "of a Cube: a template instead of a size, and a volume of type DAS"],
  [91, "user data: cloud-config", boot, "user data that begins with %s", "#cloud-config"],
  [92, "user data: a script", boot, "user data that begins with %s", "#!"],
  [93, "user data: a script by its type", boot, "user data that begins with %s", "Content-Type:"],
  [94, "user data: include", boot, "user data that begins with %s", "#include"],
  [95, "user data: Upstart", boot, "user data that begins with %s", "#upstart-job"],
  [96, "Linux images have cloud-init", catalogue, "of Linux all have cloud-init"],
  [97, "four distributions", catalogue, "of Linux all have cloud-init, and there is one of each distribution"],
  [98, "images by type", catalogue, "are looked up by type, cloud-init, alias and location"],
  [99, "images by cloud-init", catalogue, "are told apart by cloud-init %s"],
  [100, "images by alias", catalogue, "are looked up by type, cloud-init, alias and location"],
  [101, "images by location", catalogue, "are looked up by type, cloud-init, alias and location"],
  [102, "a template fixes the size", cubes, "never changes cores, RAM or template"],
  [103, "a Cube needs its NVMe volume", cubes, "is refused %s", "without its volume"],
  [104, "which stays attached", cubes, "keeps its NVMe volume: no detaching, no deleting, no resizing"],
  [105, "and cannot be deleted", cubes, "keeps its NVMe volume: no detaching, no deleting, no resizing"],
  [106, "the smallest Cube", catalogue, "are the nine Cubes"],
  [107, "23 more devices", cubes, "takes 23 add-on volumes and not one more"],
  [108, "suspended is billed", cubes, "is counted, and so billed, while it is suspended"],
  [109, "deleted is not", cubes, "is counted, and so billed, while it is suspended; only its deletion ends that"],
  [110, "a block has location, size and name", block, "reserves as many addresses as its size says"],
  [111, "size counts addresses", block, "reserves as many addresses as its size says, and is up to date then"],
  [112, "a block is for its location", ipBlocks, "serve only the location they are in, and one NIC at a time"],
  [113, "a reserved address stays", ipBlocks, "survive the recreation of a server; an address by DHCP"],
  [114, "an address by DHCP does not", ipBlocks, "an address by DHCP on a public LAN does not"],
  [115, "a snapshot is a copy", snapshots, "copies size, licence and hot-plug flags of the volume and the location"],
  [
    116,
    "a snapshot stays in its region",
    snapshots,
    "is refused in another region, whichever side has the further site",
  ],
  [117, "a volume from a snapshot", snapshots, "gets its licence and flags, and may be larger"],
];
