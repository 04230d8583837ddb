export { CREDENTIALS, type Manifest, manifest } from "../subjects/surroundings.ts";

/** The name of the object that lives. */
export const SUBJECT = "subject";
