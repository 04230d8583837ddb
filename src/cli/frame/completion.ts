import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { readCluster } from "../../diagnostics/cluster.ts";
import { kindOf } from "../../diagnostics/objects.ts";
import { resourceOf } from "../../engine/state/object.ts";
import { account } from "../../kinds/identity/account.ts";
import { kinds } from "../../kinds/index.ts";
import { type KubeObject, NAMESPACES, type Resource } from "../../kube/resource.ts";
import { openSources } from "../tools/sources.ts";
import type { PeopleCommand } from "./command.ts";
import type { Flag } from "./flags.ts";
import { visible } from "./text.ts";

/** Short, because the user waits at the prompt. */
const PATIENCE_MS = 3_000;

/** The names of all commands, and how to load those with a flag table. */
export interface Commands {
  names: Readonly<Record<string, string>>;
  load(name: string): Promise<PeopleCommand> | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The candidates for the last word, which may be incomplete. Empty if the shell is to complete file names. */
export async function candidates(commands: Commands, words: readonly string[], env: Env): Promise<string[]> {
  const [name, ...rest] = words;
  const prefix = words.at(-1) ?? "";
  if (name === undefined || words.length === 1) return startingWith(Object.keys(commands.names), prefix);
  if (name === "help") return startingWith(Object.keys(commands.names), prefix);
  const command = await commands.load(name);
  if (!command) return startingWith(["--help"], prefix);
  const previousWord = rest.at(-2);
  const flag = previousWord === undefined ? undefined : flagNamed(command, previousWord);
  const [, long = "", value] = /^--([a-z-]+)=(.*)$/.exec(prefix) ?? [];
  if (value !== undefined) {
    const found = await valuesOf(command.flags[long], rest, value, env);
    return found.map((each) => `--${long}=${each}`);
  }
  if (flag && flag.type === "string") return valuesOf(flag, rest, prefix, env);
  if (prefix.startsWith("-"))
    return startingWith(
      Object.keys(command.flags).map((each) => `--${each}`),
      prefix,
    );
  if (Array.isArray(command.completes)) return startingWith(command.completes, prefix);
  return command.completes === "object" ? objects(rest, prefix, env) : [];
}

const startingWith = (all: readonly string[], prefix: string) => all.filter((each) => each.startsWith(prefix)).sort();

function flagNamed({ flags }: PeopleCommand, word: string): Flag | undefined {
  const [, long, short] = /^(?:--([a-z-]+)|-([a-zA-Z]))$/.exec(word) ?? [];
  if (long !== undefined) return flags[long];
  return short === undefined ? undefined : Object.values(flags).find((each) => each.short === short);
}

async function valuesOf(flag: Flag | undefined, rest: readonly string[], prefix: string, env: Env): Promise<string[]> {
  if (flag?.choices) return startingWith(flag.choices, prefix);
  if (flag?.completes === "namespace") return startingWith(names(await list(NAMESPACES, rest, env, true)), prefix);
  if (flag?.completes === "account")
    return startingWith(names(await list(resourceOf(account), rest, env, false)), prefix);
  return flag?.completes === "context" ? startingWith(contexts(rest, env), prefix) : [];
}

async function objects(rest: readonly string[], prefix: string, env: Env): Promise<string[]> {
  const [kind = "", name] = prefix.split("/");
  if (name === undefined)
    return startingWith(
      kinds.map(({ kind: each }) => `${each.toLowerCase()}/`),
      prefix.toLowerCase(),
    );
  try {
    const found = await list(resourceOf(kindOf(kind)), rest, env, false);
    return startingWith(
      names(found).map((each) => `${kind}/${each}`),
      prefix,
    );
  } catch {
    return [];
  }
}

// The shell evaluates candidates, so names with special characters are left out.
const isHarmless = (name: string): boolean => visible(name) === name && !/\s/.test(name);
const names = (found: readonly KubeObject[]) => found.map(({ metadata }) => metadata.name).filter(isHarmless);

const kubeconfig = z.looseObject({ contexts: z.array(z.looseObject({ name: z.string() })) });

/** The contexts of the kubeconfigs in use. A file that cannot be read has none. */
function contexts(rest: readonly string[], env: Env): string[] {
  const named = flagValue(rest, "--kubeconfig");
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter(Boolean);
  const usual = listed.length > 0 ? listed : [join(env.HOME ?? homedir(), ".kube", "config")];
  const found = (named === undefined ? usual : [named]).flatMap((path) => {
    try {
      return kubeconfig.parse(parse(readFileSync(path, "utf8"))).contexts.map(({ name }) => name);
    } catch {
      return [];
    }
  });
  return [...new Set(found)].filter(isHarmless);
}

/** The value of a flag in the words of a command line. */
function flagValue(rest: readonly string[], ...forms: string[]): string | undefined {
  const at = rest.findIndex((word) => forms.includes(word));
  const joined = rest.find((word) => forms.some((form) => word.startsWith(`${form}=`)));
  return at >= 0 ? rest[at + 1] : joined?.slice(joined.indexOf("=") + 1);
}

/** Objects of the namespace that the words name; empty if the cluster does not answer in time. */
async function list(resource: Resource, rest: readonly string[], env: Env, everywhere: boolean): Promise<KubeObject[]> {
  const where = {
    kubeconfig: flagValue(rest, "--kubeconfig"),
    context: flagValue(rest, "--context"),
    namespace: flagValue(rest, "-n", "--namespace"),
    account: undefined,
    tokenFile: undefined,
  };
  await using sources = openSources(where, { ...env });
  try {
    const client = await sources.client();
    const namespace = where.namespace ?? client.namespace ?? "default";
    const signal = AbortSignal.timeout(PATIENCE_MS);
    return await readCluster(client).list(resource, everywhere ? {} : { namespace }, signal);
  } catch {
    return [];
  }
}

/** The script that a shell sources. It asks the program itself, so it never becomes outdated. */
export const scripts: Readonly<Record<string, string>> = {
  bash: `# bash completion of mooring: source <(mooring completion bash)
_mooring() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$word"))
}
COMP_WORDBREAKS=\${COMP_WORDBREAKS//=/}
complete -F _mooring mooring
complete -F _mooring kubectl-mooring
`,
  zsh: `#compdef mooring kubectl-mooring
# zsh completion of mooring: source <(mooring completion zsh)
_mooring() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "\${found[1]}" ]]; then
    _files
  elif [[ \${#found} -eq 1 && "\${found[1]}" == */ ]]; then
    compadd -S '' -- "\${found[@]}"
  else
    compadd -- "\${found[@]}"
  fi
}
compdef _mooring mooring kubectl-mooring
`,
  fish: `# fish completion of mooring: mooring completion fish | source
function __mooring_complete
  set -l words (commandline -opc)
  set -l begun (commandline -ct)
  set -l found ($words[1] __complete $words[2..-1] "$begun" 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path "$begun"
  end
end
complete -c mooring -f -a '(__mooring_complete)'
complete -c kubectl-mooring -f -a '(__mooring_complete)'
`,
};
