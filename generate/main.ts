import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedFiles, wholeFolders } from "./files.ts";

/** `make generate`: writes all generated files, and deletes those of removed kinds. */
const root = join(import.meta.dirname, "..");
const files = generatedFiles(root);
for (const folder of wholeFolders) {
  mkdirSync(join(root, folder), { recursive: true });
  for (const name of readdirSync(join(root, folder)))
    if (!files.has(`${folder}/${name}`)) rmSync(join(root, folder, name));
}
for (const [path, text] of files) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
console.log(`wrote ${files.size} files`);
