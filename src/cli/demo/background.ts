import { type Progress, progressTo } from "../control-plane/progress.ts";

/** What the demo says about the part of the control plane that is built while the rest is already running. */
export interface BackgroundNote {
  update: Progress;
  /** To be called when it is over, with the reason when it failed. */
  end(problem: Error | undefined): void;
  /** For the lines below the table: what is being done; undefined when nothing is. */
  note(): string | undefined;
  /** From now on nobody shows the note: the end is told by `say`, if it is not over yet. */
  announce(say: (text: string) => void): void;
}

const MEANWHILE = "until then nothing is garbage-collected, and namespaces are not deleted";

/** On a terminal the note is for the table to show; elsewhere the progress is told line by line. */
export function backgroundNote(out: { isTTY?: boolean; write(text: string): unknown }): BackgroundNote {
  const lines = progressTo(out);
  let current: string | undefined;
  let told: string | undefined;
  let say: ((text: string) => void) | undefined;
  const tell = () => {
    if (told !== undefined) say?.(told);
    if (say) told = undefined;
  };
  return {
    update(step, seconds) {
      current = `${step} … ${seconds} s;\n${MEANWHILE}`;
      if (!out.isTTY) lines.update(`${step}; ${MEANWHILE}`, seconds);
    },
    end(problem) {
      if (current === undefined && problem === undefined) return;
      current = undefined;
      told = problem
        ? `kube-controller-manager does not run: ${problem.message}`
        : "kube-controller-manager runs: garbage collection and deletion of namespaces work now";
      tell();
    },
    note: () => current,
    announce(to) {
      say = to;
      tell();
    },
  };
}
