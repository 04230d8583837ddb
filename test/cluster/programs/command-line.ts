import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parse, stringify } from "yaml";
import { people } from "../../../src/cli/people/commands.ts";
import { streams } from "../../cli/streams.ts";
import { cluster } from "../harness.ts";
import type { Landscape } from "../landscape.ts";

/** Characters that move a terminal's cursor, or hide something. */
export const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** The name of a resource that clears the screen, sets the title, breaks the line and reverses the text direction. */
export const HOSTILE = "a\u001b[2J\u001b]0;title\u0007\nb\u202ec";

export interface Printed {
  code: number | undefined;
  stdout: string;
  stderr: string;
}

/** The user and the place of a command. */
interface As {
  /** Another user, who has no rights by default. */
  user?: string;
  env?: Record<string, string>;
  /** Another kubeconfig; an empty text for none. */
  kubeconfig?: string;
}

/** Runs commands in the namespace of a landscape. Their output has no control characters and no token. */
export function commandLine(world: () => Landscape, folder: string) {
  /** A kubeconfig of the namespace. */
  function kubeconfigFor(user: string | undefined, server?: string): string {
    const config = parse(readFileSync(cluster().kubeconfig, "utf8"));
    for (const each of config.users) if (user !== undefined) each.user = { ...each.user, as: user };
    for (const each of config.contexts) each.context = { ...each.context, namespace: world().namespace };
    for (const each of config.clusters) if (server !== undefined) each.cluster = { ...each.cluster, server };
    const path = join(folder, `${user ?? "administrator"}${server === undefined ? "" : "-elsewhere"}.kubeconfig`);
    writeFileSync(path, stringify(config), { mode: 0o600 });
    return path;
  }

  async function run(line: string, { user, env = {}, kubeconfig = kubeconfigFor(user) }: As = {}): Promise<Printed> {
    const [name = "", ...argv] = line.split(" ");
    const { written, given } = streams({ HOME: folder, MOORING_REGION: "de/txl", ...env });
    const command = await people[name]?.load();
    const place = kubeconfig === "" || !command?.flags.kubeconfig ? [] : ["--kubeconfig", kubeconfig];
    const code = await command?.run([...argv, ...place], given);
    const all = written.stdout + written.stderr;
    expect(all.replaceAll("\n", "")).not.toMatch(steering);
    expect(all).not.toContain(world().platform.token);
    return { code, ...written };
  }
  return { run, kubeconfigFor };
}
