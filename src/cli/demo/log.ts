import { appendFileSync } from "node:fs";

/** The operator's log: in a file, and on the screen for as long as somebody wants to see it. */
export interface LogView {
  add(line: string): void;
  /** Shows what was last logged and all that follows, or stops showing it. */
  toggle(): void;
  readonly shown: boolean;
}

const RECENT = 20;

export function createLogView(file: string, print: (text: string) => void): LogView {
  let recent: string[] = [];
  let shown = false;
  return {
    add(line) {
      appendFileSync(file, `${line}\n`);
      recent = [...recent, line].slice(-RECENT);
      if (shown) print(line);
    },
    toggle() {
      shown = !shown;
      print(shown ? ["", "operator log (l hides it):", ...recent].join("\n") : "operator log hidden (l shows it)\n");
    },
    get shown() {
      return shown;
    },
  };
}
