import { command } from "../frame/command.ts";
import { scripts } from "../frame/completion.ts";
import { UsageError } from "../frame/flags.ts";

const shells = Object.keys(scripts);

export const completion = command({
  name: "completion",
  summary: "completion for bash, zsh and fish",
  usage: [shells.join("|")],
  description:
    "Prints a script for a shell. It completes commands, flags, kinds and the names of objects in the cluster.",
  examples: [
    ["source <(mooring completion bash)", "bash and zsh, for this shell; in ~/.bashrc for all"],
    ["mooring completion fish | source", "fish"],
    ["kubectl mooring get server/<Tab>", "kubectl completes plugins with kubectl_complete-mooring on the PATH"],
  ],
  flags: {},
  completes: shells,
  async run({ args: [shell = "", ...more], screen }) {
    const script = scripts[shell];
    if (script === undefined || more.length > 0) throw new UsageError(`name one shell: ${shells.join(", ")}`);
    for (const line of script.trimEnd().split("\n")) screen.line(line);
    return 0;
  },
});
