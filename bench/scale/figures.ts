import type { ContenderName, ScenarioName } from "./options.ts";

/** A goal that depends on the number of objects: below `LARGE`, and from there on. */
export interface BySize {
  readonly small?: number;
  readonly large: number;
}
export const LARGE = 5000;

/** A figure of the table: what it is called, and what is promised about it. */
export interface Figure {
  readonly scenario: ScenarioName;
  readonly title: string;
  readonly unit: string;
  /** At most this many times the peer's. */
  readonly ratio?: number | BySize;
  /** At most this. */
  readonly most?: number;
}

const figure = (
  scenario: ScenarioName,
  title: string,
  unit: string,
  goal: Pick<Figure, "ratio" | "most"> = {},
): Figure => ({ scenario, title, unit, ...goal });

export const figures = {
  createSeconds: figure("create", "apply to all Ready", "s", { ratio: { small: 1.15, large: 1.2 } }),
  createCpu: figure("create", "CPU of the operator for that", "s", { ratio: { small: 2, large: 1.8 } }),
  createCalls: figure("create", "platform calls per object to Ready", "", { most: 1.1 }),
  createWrites: figure("create", "Kubernetes writes per object to Ready, without Events", "", { most: 3.05 }),
  createPasses: figure("create", "passes per object to Ready", ""),
  createEvents: figure("create", "Events per object to Ready", ""),
  createApiserver: figure("create", "CPU of the API server for that", "s", { ratio: { large: 1.1 } }),
  createSimulator: figure("create", "CPU of the simulator for that", "s"),
  createOthers: figure(
    "create",
    "cores that others used meanwhile, on this machine or its host: what is more than 0.1 disturbs",
    "",
  ),
  idleResident: figure("create", "memory with nothing to do (RSS)", "MB", { most: 95 }),
  restResident: figure("create", "memory at rest (RSS)", "MB", { ratio: 2.5 }),
  treeSeconds: figure("commands", "mooring tree of all objects", "s"),
  treePeak: figure("commands", "… most memory (RSS)", "MB"),
  planSeconds: figure("commands", "mooring plan of all objects, 1 % edited", "s"),
  planPeak: figure("commands", "… most memory (RSS)", "MB"),
  orphansSeconds: figure("commands", "mooring orphans of the contract", "s"),
  orphansPeak: figure("commands", "… most memory (RSS)", "MB"),
  resyncCalls: figure("resync", "platform calls of one resync", "", { most: 40 }),
  restartPasses: figure("restart", "passes per object after a restart", "", { most: 1.2 }),
  restartCpu: figure("restart", "CPU of a restart until quiet", "s", { ratio: { small: 4, large: 2.5 } }),
  restartSeconds: figure("restart", "restart until quiet", "s"),
  restartStall: figure("restart", "longest stall of the event loop in that restart", "ms", { most: 50 }),
  editSeconds: figure("edits", "an edit of every Server, until Ready", "s"),
  editCpu: figure("edits", "CPU of the operator for that", "s"),
  editCalls: figure("edits", "platform calls per edit", ""),
  editWrites: figure("edits", "Kubernetes writes per edit, without Events", ""),
  leaderFirst: figure("leader", "leader killed: first decision of the next one", "s"),
  leaderLast: figure("leader", "leader killed: last decision", "s"),
  deleteSeconds: figure("delete", "delete all, until gone", "s", { ratio: 1.2 }),
  deleteCpu: figure("delete", "CPU of the operator for that", "s", { ratio: { small: 2.5, large: 2 } }),
  deleteApiserver: figure("delete", "CPU of the API server for that", "s", { ratio: 1 }),
  deleteCalls: figure("delete", "platform calls per deleted object", "", { most: 1.15 }),
  deleteWrites: figure("delete", "Kubernetes writes per deleted object", ""),
  deletePasses: figure("delete", "passes per deleted object", ""),
  killFound: figure("kill", "SIGKILL while 50 Servers are created: all but three Ready", "s", { most: 25 }),
  killSeconds: figure("kill", "… the three that are sent again Ready", "s", { most: 125 }),
  killStuck: figure("kill", "… objects that are stuck", "", { most: 0 }),
  killOrphans: figure("kill", "… resources that no object has", "", { most: 0 }),
  killDuplicates: figure("kill", "… names that the platform has twice", "", { most: 0 }),
  fluxCalls: figure("flux", "all in one Datacenter, 1 % edited: platform calls per edit", ""),
  fluxCpu: figure("flux", "… CPU of the operator per edit", "ms"),
  fluxEdits: figure("flux", "… edits a second", ""),
  limitedSeconds: figure("limited", "apply to all Ready, 100 platform calls a second", "s", { ratio: 0.45 }),
  limitedCalls: figure("limited", "… platform calls per object, refused ones included", ""),
  noisyAlone: figure("noisy", "50 Servers to Ready, alone", "s"),
  noisyHanging: figure("noisy", "50 Servers to Ready, beside an Account that hangs", "s"),
  noisyRatio: figure("noisy", "… how many times as long", "", { most: 1.3 }),
  floorSeconds: figure("floor", "the writes of create straight to the API server", "s"),
  floorWrite: figure("floor", "… CPU of the API server per write", "ms"),
  churnEarly: figure("churn", "memory after five minutes of churn (RSS)", "MB"),
  churnLate: figure("churn", "… at its end", "MB"),
  churnRatio: figure("churn", "… how many times as much", "", { most: 1.1 }),
} as const;

export type FigureName = keyof typeof figures;
export const figureNames = Object.keys(figures).filter((name): name is FigureName => Object.hasOwn(figures, name));

/** What was measured, by figure and contender, a number per round. */
export interface Results {
  add(contender: ContenderName, figure: FigureName, value: number): void;
  of(contender: ContenderName, figure: FigureName): readonly number[];
}

export function createResults(): Results {
  const values = new Map<string, number[]>();
  const key = (contender: ContenderName, figure: FigureName) => `${contender} ${figure}`;
  return {
    add(contender, figure, value) {
      const known = values.get(key(contender, figure)) ?? [];
      values.set(key(contender, figure), [...known, value]);
    },
    of: (contender, figure) => values.get(key(contender, figure)) ?? [],
  };
}
