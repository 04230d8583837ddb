import type { Logger } from "pino";
import type { KubeClient } from "../kube/client/transport.ts";
import type { Clock } from "../runtime/clock.ts";
import { createMetricsAccess } from "./metrics-access.ts";
import type { Protection } from "./serve.ts";
import { type Pair, readPair, selfSigned } from "./serving-certificate.ts";

/** `--metrics-auth` always uses TLS, because clients send tokens; without a certificate it uses a self-signed one. */
export async function metricsProtection(options: {
  tls: Pair | undefined;
  metricsAuth: boolean;
  client: KubeClient;
  clock: Clock;
  log: Logger;
}): Promise<Protection> {
  const { tls, metricsAuth, client, clock, log } = options;
  const onError = (error: unknown) => log.warn({ err: error }, "access to metrics not checked");
  return {
    tls: tls ? await readPair(tls) : metricsAuth ? await selfSigned(clock.now()) : undefined,
    access: metricsAuth ? createMetricsAccess({ client, clock, onError }) : undefined,
  };
}
