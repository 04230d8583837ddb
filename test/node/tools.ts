import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { z } from "zod";

export interface Tools {
  kubectl(...args: string[]): Promise<string>;
  helm(...args: string[]): Promise<string>;
  /** Helm with values. */
  helmWith(values: object, ...args: string[]): Promise<string>;
  /** kubectl with standard input. */
  feed(input: string, ...args: string[]): Promise<string>;
  /** The local address that is forwarded to a port of a pod. */
  forward(port: number, ...target: string[]): Promise<string>;
}

/** The programs as people use them; they reject with their whole output. */
export function toolsFor(options: { kubectl: string; helm: string; kubeconfig: string; home: string }): Tools {
  const { kubectl, helm, kubeconfig, home } = options;
  const env = { ...process.env, KUBECONFIG: kubeconfig, HOME: home };
  const run = (command: string, args: string[], input = "") =>
    new Promise<string>((resolve, reject) => {
      const child = execFile(command, args, { env, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${command} ${args.join(" ")} failed: ${stdout}${stderr}`));
        else resolve(stdout);
      });
      child.stdin?.end(input);
    });
  return {
    kubectl: (...args) => run(kubectl, args),
    helm: (...args) => run(helm, args),
    helmWith: (values, ...args) => run(helm, [...args, "--values", "-"], JSON.stringify(values)),
    feed: (input, ...args) => run(kubectl, args, input),
    async forward(port, ...target) {
      const args = ["port-forward", ...target, `:${port}`];
      const { stdout, stderr } = spawn(kubectl, args, { env, stdio: ["ignore", "pipe", "pipe"] });
      stderr.resume();
      for await (const line of createInterface({ input: stdout })) {
        const local = line.match(/127\.0\.0\.1:\d+/)?.[0];
        if (local) return `http://${local}`;
      }
      throw new Error(`kubectl ${args.join(" ")} ended`);
    },
  };
}

const podList = z.object({
  items: z.array(
    z.looseObject({
      metadata: z.looseObject({ name: z.string(), deletionTimestamp: z.string().optional() }),
      spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string() })) }),
      status: z.looseObject({
        containerStatuses: z
          .array(
            z.looseObject({
              ready: z.boolean(),
              restartCount: z.number(),
              containerID: z.string().optional(),
              lastState: z.looseObject({ terminated: z.looseObject({ reason: z.string() }).optional() }),
            }),
          )
          .default([]),
      }),
    }),
  ),
});

export interface Pod {
  name: string;
  image: string;
  ready: boolean;
  restarts: number;
  /** The reason of the last restart. */
  reason: string | undefined;
  container: string;
}

export const SYSTEM = "mooring-system";

/** The operator's pods, without those that are being deleted. */
export async function operatorPods({ kubectl }: Tools): Promise<Pod[]> {
  const selector = "app.kubernetes.io/component=operator";
  const answer = await kubectl("--namespace", SYSTEM, "get", "pods", "--selector", selector, "--output", "json");
  const { items } = podList.parse(JSON.parse(answer));
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata: { name }, spec, status: { containerStatuses } }) => {
      const [container] = containerStatuses;
      return {
        name,
        // From spec: status may show another name of the same image.
        image: spec.containers[0]?.image ?? "",
        ready: container?.ready ?? false,
        restarts: container?.restartCount ?? 0,
        reason: container?.lastState.terminated?.reason,
        container: container?.containerID?.replace("containerd://", "") ?? "",
      };
    });
}

/** The holder of the Lease. */
export const holder = ({ kubectl }: Tools): Promise<string> =>
  kubectl("--namespace", SYSTEM, "get", "lease", "mooring", "--output", "jsonpath={.spec.holderIdentity}");
