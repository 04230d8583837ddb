import type { CallObserver } from "../../platform/calls/call.ts";
import type { Transport } from "../../platform/calls/transport.ts";
import { type Definitions, setAtScrape } from "./definitions.ts";

export interface PlatformMetrics {
  call: CallObserver;
  /** An Account is gone: drops the series that only its calls produced. */
  closed(account: string): void;
  /** Reads the rate limiters and clock skews at each scrape. */
  watch(transport: Pick<Transport, "pacers" | "skews">): void;
}

/**
 * Limits the number of series. Tenants choose endpoints, so neither paths nor status codes may create unlimited series, and
 * hosts are no label.
 */
const MOST_ROUTES = 100;
const CODES = [200, 201, 202, 204, 400, 401, 403, 404, 405, 408, 409, 415, 422, 423, 429, 500, 501, 502, 503, 504];
const codeOf = (status: number | "error"): string =>
  status === "error" || CODES.includes(status) ? String(status) : `${Math.floor(status / 100)}xx`;

/** Calls to the platform, and how they are paced. */
export function createPlatformMetrics(definitions: Definitions): PlatformMetrics {
  const { call, closed } = createCallMetrics(definitions);
  return { call, closed, watch: createPaceMetrics(definitions) };
}

function createCallMetrics({ counter, histogram }: Definitions): Pick<PlatformMetrics, "call" | "closed"> {
  const calls = counter("mooring_platform_requests_total", "Calls to the platform by product, route and code", [
    "product",
    "method",
    "route",
    "code",
  ]);
  const times = histogram("mooring_platform_request_seconds", "Duration of a call to the platform", [
    "product",
    "method",
  ]);
  const paced = histogram("mooring_platform_wait_seconds", "Time a call to the platform waited for the rate limit", []);
  /** The Accounts that called each route, and the series of that route. */
  const routes = new Map<string, { accounts: Set<string>; series: Map<string, Record<string, string>> }>();
  return {
    call({ account, product, method, route: path, status, seconds, waited }) {
      if (routes.size < MOST_ROUTES && !routes.has(path)) routes.set(path, { accounts: new Set(), series: new Map() });
      const known = routes.get(path);
      const series = { product, method, route: known ? path : "other", code: codeOf(status) };
      known?.accounts.add(account);
      known?.series.set(Object.values(series).join(" "), series);
      calls.inc(series);
      times.observe({ product, method }, seconds);
      paced.observe(waited);
    },
    closed(account) {
      for (const [route, { accounts, series }] of routes) {
        if (!accounts.delete(account) || accounts.size > 0) continue;
        routes.delete(route);
        for (const each of series.values()) calls.remove(each);
      }
    },
  };
}

function createPaceMetrics({ gauge }: Definitions): PlatformMetrics["watch"] {
  const pacers = gauge(
    "mooring_platform_pacers",
    "Rate limiters of an Account, one per host, shared by Accounts with the same token: open, or closed while the platform asks to wait",
    ["account", "state"],
  );
  const slowest = gauge("mooring_platform_slowest_rate", "Calls per second of the slowest rate limiter of an Account", [
    "account",
  ]);
  const waiting = gauge("mooring_platform_waiting_calls", "Calls that wait for the rate limiters of an Account", [
    "account",
  ]);
  const skews = gauge(
    "mooring_platform_clock_skew_seconds",
    "How far the platform's clock is ahead of the operator's, by the answers to an Account; negative: behind",
    ["account"],
  );
  return (transport) => {
    setAtScrape(skews, () => {
      skews.reset();
      for (const { account, aheadMs } of transport.skews()) skews.set({ account }, aheadMs / 1000);
    });
    setAtScrape(pacers, () => {
      for (const each of [pacers, waiting, slowest]) each.reset();
      const slow = new Map<string, number>();
      for (const { accounts, pacer } of transport.pacers())
        for (const account of new Set(accounts)) {
          pacers.inc({ account, state: pacer.isClosed ? "closed" : "open" });
          waiting.inc({ account }, pacer.waiting);
          slow.set(account, Math.min(pacer.rate, slow.get(account) ?? pacer.rate));
        }
      for (const [account, rate] of slow) slowest.set({ account }, rate);
    });
  };
}
