import { createServer } from "node:http";
import { z } from "zod";
import { freePort } from "../../../src/cli/control-plane/probe.ts";

/** Another operator that the same Prometheus scrapes, built with controller-runtime and failing. */
export async function startStranger(cleanup: AsyncDisposableStack): Promise<string> {
  let scrapes = 0;
  const server = createServer((_, response) => {
    scrapes += 1;
    const much = 1e15 * scrapes;
    response.setHeader("content-type", "text/plain; version=0.0.4");
    response.end(`leader_election_master_status{name="widgets"} 1
controller_runtime_reconcile_total{controller="widget",result="error"} ${much}
controller_runtime_reconcile_errors_total{controller="widget"} ${much}
controller_runtime_reconcile_time_seconds_bucket{controller="widget",le="+Inf"} ${much}
controller_runtime_max_concurrent_reconciles{controller="widget"} ${much}
controller_runtime_active_workers{controller="widget"} ${much}
workqueue_depth{name="widget"} ${much}
workqueue_oldest_seconds{name="widget"} ${much}
workqueue_longest_running_processor_seconds{name="widget"} ${much}
rest_client_requests_total{code="200",method="GET",host="widgets"} ${much}
process_cpu_seconds_total ${much}
process_resident_memory_bytes ${much}
nodejs_eventloop_lag_p99_seconds ${much}
`);
  }).listen(await freePort(), "127.0.0.1");
  cleanup.defer(async () => void server.close());
  const address = z.object({ port: z.number() });
  await new Promise((resolve) => server.once("listening", resolve));
  return `127.0.0.1:${address.parse(server.address()).port}`;
}
