import type { Fact } from "./fact.ts";
import { activity } from "./products/activity.ts";
import { answers } from "./products/answers.ts";
import { compute } from "./products/compute.ts";
import { core } from "./products/core.ts";
import { flowLogs } from "./products/flow-logs.ts";
import { general } from "./products/general.ts";
import { inference } from "./products/inference.ts";
import { logs } from "./products/logs.ts";
import { metrics } from "./products/metrics.ts";
import { scaling } from "./products/scaling.ts";
import { streaming } from "./products/streaming.ts";
import { tokensAndKeys } from "./products/tokens.ts";
import { tools } from "./products/tools.ts";

/** How many facts there are. */
export const facts = 346;

export const proofs: readonly Fact[] = [
  ...[general, core, compute, tokensAndKeys, scaling, metrics, logs],
  ...[activity, flowLogs, streaming, inference, tools, answers],
].flat();

/** Facts that no test can prove, each with the reason. */
export const untestable: Readonly<Record<number, string>> = {
  56: "whose CPU a core is cannot be seen from outside",
  57: "whose CPU a core is cannot be seen from outside",
  81: "it says that no other states are described",
  122: "it contradicts 123, which holds: with two factors only tokens are taken",
  145: "the web console offers the download",
  180: "host names of the public cloud: the simulator serves all of them on loopback",
  193: "it says that no way to replace a key is described",
  253: "the storage of a real cluster: the simulator tells it and does not have it",
  278: "it says that nothing is fixed",
  303: "where the data centers are, and their certificates",
  308: "an interface that is named and not described",
  316: "it says that there is nothing to subscribe to",
};
