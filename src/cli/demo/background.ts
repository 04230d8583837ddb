import { type Progress, progressTo } from "../control-plane/progress.ts";

/** Messages of the demo about kube-controller-manager, which is built while the rest already runs. */
export interface BackgroundNote {
  update: Progress;
  /** Call it at the end of the build, with the error if it failed. */
  end(problem: Error | undefined): void;
  /** The current step, for the lines below the table. */
  note(): string | undefined;
  /** The table ends here: `say` gets the result of the build, now or when it is done. */
  announce(say: (text: string) => void): void;
}

const MEANWHILE = "until then nothing is garbage-collected, and namespaces are not deleted";

/** On a terminal the table shows the note; elsewhere progress is written line by line. */
export function backgroundNote(out: { isTTY?: boolean; write(text: string): unknown }): BackgroundNote {
  const lines = progressTo(out);
  let current: string | undefined;
  /** The result of the build until it is announced. */
  let result: string | undefined;
  let say: ((text: string) => void) | undefined;
  const announceResult = () => {
    if (!say || result === undefined) return;
    say(result);
    result = undefined;
  };
  return {
    update(step, seconds) {
      current = `${step} … ${seconds} s;\n${MEANWHILE}`;
      if (!out.isTTY) lines.update(`${step}; ${MEANWHILE}`, seconds);
    },
    end(problem) {
      if (current === undefined && problem === undefined) return;
      current = undefined;
      result = problem
        ? `kube-controller-manager does not run: ${problem.message}`
        : "kube-controller-manager runs: garbage collection and deletion of namespaces work now";
      announceResult();
    },
    note: () => current,
    announce(to) {
      say = to;
      announceResult();
    },
  };
}
