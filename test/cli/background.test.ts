import { describe, expect, it } from "vitest";
import { backgroundNote } from "../../src/cli/demo/background.ts";

const STEP = "building kube-controller-manager (1 of 1, once)";

function noteOn({ isTTY }: { isTTY: boolean }) {
  let text = "";
  const said: string[] = [];
  const note = backgroundNote({ isTTY, write: (chunk) => (text += chunk) });
  return { ...note, written: () => text, said, say: (line: string) => said.push(line) };
}

describe("a build while the demo is already shown", () => {
  it("stands below the table on a terminal, with what does not work yet", () => {
    const { update, note, written } = noteOn({ isTTY: true });
    expect(note()).toBeUndefined();
    update(STEP, 12);
    expect(note()).toBe(`${STEP} … 12 s;\nuntil then nothing is garbage-collected, and namespaces are not deleted`);
    expect(written()).toBe("");
  });

  it("is told line by line elsewhere", () => {
    const { update, written } = noteOn({ isTTY: false });
    update(STEP, 0);
    update(STEP, 3);
    expect(written().split("\n")).toHaveLength(2);
    expect(written()).toContain(STEP);
  });

  it("says when it is there, once somebody listens", () => {
    const { update, end, announce, note, said, say } = noteOn({ isTTY: true });
    update(STEP, 0);
    end(undefined);
    expect(note()).toBeUndefined();
    announce(say);
    expect(said).toEqual(["kube-controller-manager runs: garbage collection and deletion of namespaces work now"]);
  });

  it("says why it is not there", () => {
    const { update, end, announce, said, say } = noteOn({ isTTY: true });
    announce(say);
    update(STEP, 0);
    end(new Error("go build failed"));
    expect(said).toEqual(["kube-controller-manager does not run: go build failed"]);
  });

  it("says nothing where nothing had to be built", () => {
    const { end, announce, said, say } = noteOn({ isTTY: true });
    end(undefined);
    announce(say);
    expect(said).toEqual([]);
  });
});
