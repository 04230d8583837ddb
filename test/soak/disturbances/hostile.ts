import { drain, flood } from "../../cluster/chaos/flood.ts";
import { manifests } from "../../cluster/chaos/manifests.ts";
import { defectsIn } from "../../cluster/chaos/operator.ts";
import { startPlatform } from "../../cluster/chaos/platform.ts";
import { openStage } from "../../cluster/chaos/stage.ts";
import { TooLate } from "../../cluster/chaos/wait.ts";

export interface Borne {
  accepted: number;
  refused: number;
  /** The heap at the end, relative to the heap after the first wave. */
  heapRatio: number;
  complaints: string[];
}

const WAVE = 1000;
const MOST = 1.3;

/** Sends `count` generated manifests in waves, deletes the accepted ones, and checks the operator. */
export async function sendHostileManifests(
  kubeconfig: string,
  { count, seed, onProgress }: { count: number; seed: number; onProgress: (line: string) => void },
): Promise<Borne> {
  await using cleanup = new AsyncDisposableStack();
  const platform = cleanup.use(await startPlatform({ seed, speed: 200 }));
  const stage = cleanup.use(await openStage(kubeconfig));
  const operator = await stage.operator();
  await stage.account(platform);
  await stage.untilReady("Account", "main");
  const all = manifests(count, seed);
  const result: Borne = { accepted: 0, refused: 0, heapRatio: 1, complaints: [] };
  let before: number | undefined;
  for (let sent = 0; sent < count; sent += WAVE) {
    const { accepted, refused } = await flood(stage, all.slice(sent, sent + WAVE));
    result.accepted += accepted;
    result.refused += refused;
    try {
      await drain(stage, ["main"], 180_000);
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      result.complaints.push(error.message);
    }
    before ??= await operator.heapInUse();
    onProgress(
      `${Math.min(sent + WAVE, count)} manifests sent, ${result.accepted} accepted, ${result.refused} refused`,
    );
  }
  result.heapRatio = (await operator.heapInUse()) / (before ?? 1);
  if (result.heapRatio > MOST)
    result.complaints.push(`the heap is ${result.heapRatio.toFixed(2)} times as large as before`);
  if (operator.exitCode() !== undefined) result.complaints.push(`the operator ended with ${operator.exitCode()}`);
  result.complaints.push(...defectsIn(operator.log()));
  return result;
}
