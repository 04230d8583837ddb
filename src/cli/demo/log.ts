import { appendFileSync } from "node:fs";

/** The operator's log: in a file, and on the screen on demand. */
export interface LogView {
  add(line: string): void;
  /** Shows the latest lines and all that follow, or stops. */
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
