import { existsSync, readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Result, run } from "../processes.ts";

const textsIn = (dist: string): string[] =>
  readdirSync(dist)
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(dist, name), "utf8"));

/** An address relative to a chunk, or to a source file whose place relative to the chunk is known. */
const address = /new URL\((["`])([^"`$]*)[^"`]*\1, (?:new URL\("([^"]*)", )?import\.meta\.url\)/g;
/** Called at once, or kept under a name by which its calls are found. */
const createdRequire =
  /(?<=\b(?:__)?require(?:\$\d+)? = (?:\(\(\) => )?)createRequire\(import\.meta\.url\)|createRequire\(import\.meta\.url\)(?=\()/g;
const modules = [
  /^(?:import|export) (?:[^"]* from )?"([^".][^"]*)"/gm,
  /\bimport\("([^".][^"]*)"/g,
  // A call in a string is code that a library writes for others.
  /(?<![\w."'`])(?:(?:__)?require(?:\$\d+)?|createRequire\(import\.meta\.url\))(?:\.resolve)?\("([^"]+)"\)/g,
];

/** Places where code asks for its own folder in a way that does not tell what it looks for there, by their source file. */
function untoldIn(text: string): string[] {
  const rest = text.replaceAll(address, "").replaceAll(createdRequire, "");
  const sources = /(?<=^\/\/#region .*)(?:node_modules|src)\/\S+/gm;
  return [...rest.matchAll(/import\.meta\b|\b__(?:dirname|filename)\b/g)].map(({ 0: word, index }) => {
    const source = rest.slice(0, index).match(sources)?.at(-1);
    return `${word} in ${source ?? "code of the bundle"}`;
  });
}

/**
 * Everything that the program in `folder` looks for beside its code and does not find: files by their path in `folder`, modules
 * by their name, and places in the code where it cannot be told what is looked for.
 */
export function missingIn(folder: string): string[] {
  const dist = join(folder, "dist");
  const missing = textsIn(dist).flatMap((text) => {
    const files = [...text.matchAll(address)].map(([, , path = "", source = "main.js"]) => {
      const { pathname } = new URL(path, new URL(source, "file:///dist/"));
      return pathname.slice(1);
    });
    const names = modules.flatMap((each) => [...text.matchAll(each)].map(([, name = ""]) => name));
    return [
      ...files.filter((path) => !existsSync(join(folder, path))),
      ...names.filter((name) => !isBuiltin(name)),
      ...untoldIn(text),
    ];
  });
  return [...new Set(missing)].sort();
}

/** Sends a record with the Kafka client in `folder` to a port where nothing listens, and prints the codes of its errors. */
export function sendNowhere(folder: string): Promise<Result> {
  const dist = join(folder, "dist");
  const client = /\{[^{}]*\bProducer\b[^{}]*\} = await import\("\.\/([^"]+)"\)/;
  const chunk = textsIn(dist).flatMap((text) => client.exec(text)?.[1] ?? [])[0] ?? "";
  const script = `
    const { Producer } = await import(${JSON.stringify(join(dist, chunk))});
    const producer = new Producer({ clientId: "test", bootstrapBrokers: ["127.0.0.1:1"], retries: 0 });
    const codes = ({ code, errors = [], cause }) => [code, ...errors.flatMap(codes), ...(cause ? codes(cause) : [])];
    const messages = [{ topic: "test", value: Buffer.alloc(1) }];
    await producer.send({ messages }).catch((error) => console.log(codes(error).join(" ")));
    await producer.close();
  `;
  return run(process.execPath, ["--input-type=module", "--eval", script], { cwd: "/" });
}
