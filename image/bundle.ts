import { rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "rolldown";
import { licensesOf } from "./licenses.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** Makes `import.meta.url` independent of the chunk, for files that look for files beside src/. */
const sameAddress: Plugin = {
  name: "same-address",
  transform(code, id) {
    if (!id.startsWith(join(root, "src/"))) return null;
    const here = `new URL(${JSON.stringify(`../${relative(root, id)}`)}, import.meta.url).href`;
    return code.replaceAll("import.meta.url", here);
  },
};

/** A library that reads a file beside its module, and its own form that contains that file. */
const withFiles = { "@platformatic/wasm-utils": "@platformatic/wasm-utils/bundled" };

/**
 * Writes everything that `mooring` needs besides Node into one folder: bundled JavaScript and licenses. Names and lines
 * stay readable for stack traces. The output is ASCII: a single other character would make V8 store the whole file with
 * two bytes per character.
 */
export async function bundle(dir: string): Promise<void> {
  rmSync(dir, { recursive: true, force: true });
  await build({
    input: join(root, "src/main.ts"),
    platform: "node",
    logLevel: "warn",
    resolve: { alias: withFiles },
    plugins: [sameAddress],
    output: {
      dir,
      format: "esm",
      comments: false,
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    },
  });
  writeFileSync(join(dir, "licenses.txt"), licensesOf(root));
}

if (import.meta.main) await bundle(process.argv[2] ?? join(root, "dist"));
