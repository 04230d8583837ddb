import { z } from "zod";
import type { Inputs, Lookup, Mention, Reference } from "../../desired.ts";
import type { Joined, Rule } from "../../kind.ts";
import { formed, line, location, objectRef, uuid } from "../fields.ts";
import { datacenterLocation, datacenterLookups, imageLocations } from "../location.ts";
import { countOf, ruled } from "../rules.ts";
import { newestImage } from "./image-catalogue.ts";

const alias = () =>
  formed(
    /^[a-z0-9_.-]+:[a-z0-9_.-]+$/,
    128,
    "must be an alias <distribution>:<version>, for example ubuntu:latest",
  ).optional();

const imageLookup = ruled(
  z.object({
    alias: alias().describe("Alias of the image, for example ubuntu:latest."),
    name: line(255).optional().describe("Prefix of the image's name, for example ubuntu-24.04; case-insensitive."),
    type: z.enum(["HDD", "UNKNOWN"]).default("HDD").describe("Type of the image. A volume cannot start from a CDROM."),
    cloudInit: z
      .enum(["V1", "NONE"])
      .optional()
      .describe("cloud-init of the image. Default: V1 with user data, else any."),
    location: location().optional().describe("Location of the image. Default: the location of the datacenter."),
  }),
  { rule: "has(self.alias) || has(self.name)", message: "imageLookup needs an alias, a name or both" },
);

/** The image source of a new volume, for every schema with new volumes. */
export const imageFields = {
  image: uuid().optional().describe("Id of the image or snapshot to start from. Excludes the other sources."),
  imageAlias: alias().describe(
    "Alias of the image to start from, for example ubuntu:latest. Excludes the other sources.",
  ),
  snapshotRef: objectRef("Snapshot").optional().describe("Snapshot to start from. Excludes the other sources."),
  imageLookup: imageLookup
    .optional()
    .describe(
      "Finds the image to start from, at creation; if several match, the newest by name. Excludes the other sources.",
    ),
};
const source = z.object(imageFields);
type Source = z.output<typeof source>;
const names = Object.keys(imageFields);

function listed(prefix: string) {
  const fields = names.map((name) => `${prefix}${name}`);
  return `${fields.slice(0, -1).join(", ")} and ${fields.at(-1)}`;
}

/** For volumes that cannot be empty. */
export const oneImageRule = (): Rule => ({
  rule: `${countOf(names)} == 1`,
  message: `exactly one of ${listed("")} is required`,
});

/** Rules of a volume. Messages name its fields with `prefix`: `bootVolume.`. */
export function imageRules(prefix = ""): Joined {
  const [count, fields] = [countOf(names), listed(prefix)];
  const some = `${count} > 0 || has(self.licenceType)`;
  return {
    rule: `${count} == 1 || (${count} == 0 && has(self.licenceType))`,
    parts: [
      { rule: `${count} <= 1`, message: `${fields} exclude each other: keep one of them` },
      { rule: some, message: `one of ${fields} is required or, for an empty volume, ${prefix}licenceType` },
    ],
  };
}

export const imageImmutable = (prefix = ""): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, "an image is used at creation only"]));

/** The name in a lookup, which `newestImage` compares without case. */
export const imageName = (prefix = ""): string => `${prefix}imageLookup.name`;

/** A volume needs its snapshot only at creation; a replica template needs it as long as it creates volumes. */
export function imageReferences(
  { snapshotRef }: Source,
  prefix = "",
  bond: NonNullable<Reference["bond"]> = "seed",
): Reference[] {
  const field = `${prefix}snapshotRef`;
  return snapshotRef ? [{ role: field, kind: "Snapshot", field, target: snapshotRef, bond }] : [];
}

const IMAGES = "/images?depth=1";

/** `image` may be the id of a snapshot or of a private image of the contract. */
export const imageMentions = ({ image }: Pick<Source, "image">, prefix = ""): Mention[] =>
  image === undefined ? [] : [{ field: `${prefix}image`, value: image, catalogue: IMAGES }];

/** The image source in the body of a creation. */
export const imageProperties = ({ image, imageAlias }: Source, { refs, found }: Inputs, prefix = "") => ({
  image: refs[`${prefix}snapshotRef`]?.id ?? found[`${prefix}imageLookup`] ?? image,
  imageAlias,
});

/** The reason why the datacenter cannot use the source: it is in another location. */
export function imageProblem({ snapshotRef, imageLookup }: Source, inputs: Inputs, prefix = ""): string | undefined {
  const here = datacenterLocation(inputs);
  const elsewhere = (place: unknown) =>
    here !== undefined && typeof place === "string" && !imageLocations(here).includes(place);
  const snapshotLocation = inputs.refs[`${prefix}snapshotRef`]?.status.location;
  if (snapshotRef && elsewhere(snapshotLocation)) {
    return `${prefix}snapshotRef: Snapshot ${snapshotRef.name} is in ${snapshotLocation}, the datacenter in ${here}: a snapshot can only be used in its own location`;
  }
  if (imageLookup && elsewhere(imageLookup.location)) {
    return `${prefix}imageLookup.location: ${imageLookup.location} is not the location of the datacenter: remove the field, or set ${here}`;
  }
  return undefined;
}

/** Finds the image of an `imageLookup`; first the location of the datacenter, if it is not known. */
export function imageLookups(
  { imageLookup, ...rest }: Source & { userData?: unknown; userDataSecretRef?: unknown },
  inputs: Inputs,
  prefix = "",
): Lookup[] {
  if (!imageLookup) return [];
  const hasUserData = rest.userData !== undefined || rest.userDataSecretRef !== undefined;
  const field = `${prefix}imageLookup`;
  const pick: Lookup["pick"] = (answer, found) => {
    const location = imageLookup.location ?? datacenterLocation({ ...inputs, found });
    const cloudInit = imageLookup.cloudInit ?? (hasUserData ? "V1" : undefined);
    return newestImage(answer, { ...imageLookup, cloudInit, location });
  };
  return [...datacenterLookups(inputs), { field, path: IMAGES, asked: imageLookup, pick }];
}

export const licenceType = z
  .enum(["UNKNOWN", "WINDOWS", "WINDOWS2016", "WINDOWS2019", "WINDOWS2022", "WINDOWS2025", "RHEL", "LINUX", "OTHER"])
  .optional()
  .describe("Licence of the operating system. Required for an empty volume.");
