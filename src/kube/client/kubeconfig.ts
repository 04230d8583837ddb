import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

const text = z.string().optional();

const clusterSchema = z.looseObject({
  server: z.string(),
  "certificate-authority": text,
  "certificate-authority-data": text,
  "insecure-skip-tls-verify": z.boolean().optional(),
  "tls-server-name": text,
  "proxy-url": text,
});

const execSchema = z.looseObject({
  apiVersion: z.string().default("client.authentication.k8s.io/v1"),
  command: z.string(),
  args: z.array(z.string()).nullish(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
});

const userSchema = z.looseObject({
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  token: text,
  tokenFile: text,
  username: text,
  password: text,
  as: text,
  exec: execSchema.nullish(),
  "auth-provider": z.looseObject({ name: z.string(), config: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});

const list = <T extends z.ZodType>(entry: T) =>
  z
    .array(entry)
    .nullish()
    .transform((entries) => entries ?? []);

const fileSchema = z.looseObject({
  "current-context": text,
  clusters: list(z.looseObject({ name: z.string(), cluster: clusterSchema })),
  contexts: list(
    z.looseObject({ name: z.string(), context: z.looseObject({ cluster: z.string(), user: text, namespace: text }) }),
  ),
  users: list(z.looseObject({ name: z.string(), user: userSchema.nullish() })),
});

export type KubeconfigCluster = z.infer<typeof clusterSchema>;
export type KubeconfigUser = z.infer<typeof userSchema>;
export type ExecPlugin = z.infer<typeof execSchema>;

/** One context of a kubeconfig. Its paths are absolute. */
export interface KubeconfigContext {
  cluster: KubeconfigCluster;
  user: KubeconfigUser;
  userName: string;
  namespace?: string;
}

/** Reads kubeconfig files and selects a context: the named or the current one. The first file to define something wins. */
export async function loadKubeconfig(paths: readonly string[], named?: string): Promise<KubeconfigContext> {
  const files = await Promise.all(paths.map(load));
  const where = paths.join(", ");
  const name = named ?? files.map((file) => file["current-context"]).find(Boolean);
  if (!name) throw new Error(`${where}: no current-context is set; name a context`);
  const context = files.flatMap(({ contexts }) => contexts).find((entry) => entry.name === name)?.context;
  if (!context) throw new Error(`${where}: there is no context "${name}"`);
  const cluster = files.flatMap(({ clusters }) => clusters).find((entry) => entry.name === context.cluster)?.cluster;
  if (!cluster)
    throw new Error(`${where}: context "${name}" names the cluster "${context.cluster}", which does not exist`);
  const user = files.flatMap(({ users }) => users).find((entry) => entry.name === context.user)?.user;
  return {
    cluster,
    user: user ?? {},
    userName: context.user ?? "",
    ...(context.namespace !== undefined && { namespace: context.namespace }),
  };
}

async function load(path: string) {
  let read: unknown;
  try {
    read = parse(await readFile(path, "utf8"));
  } catch (error) {
    // The parser's message quotes a line, which may hold a token.
    const said = error instanceof Error && "code" in error && !("linePos" in error) ? error.message : "is not YAML";
    throw new Error(`kubeconfig ${path}: ${said}`);
  }
  const file = fileSchema.safeParse(read);
  if (!file.success) throw new Error(`kubeconfig ${path}: ${z.prettifyError(file.error)}`);
  const base = dirname(path);
  for (const { cluster } of file.data.clusters) absolute(cluster, ["certificate-authority"], base);
  for (const { user } of file.data.users) {
    if (user) absolute(user, ["client-certificate", "client-key", "tokenFile"], base);
    if (user?.exec?.command.includes("/")) absolute(user.exec, ["command"], base);
  }
  return file.data;
}

function absolute<K extends string>(entry: { [key in K]?: string | undefined }, fields: readonly K[], base: string) {
  for (const field of fields) {
    const path = entry[field];
    if (path) entry[field] = resolve(base, path);
  }
}
