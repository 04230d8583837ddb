import { z } from "zod";
import { accountOf } from "../../engine/accounts/accounts.ts";
import { readStatus, readWhole } from "../../engine/status/status.ts";
import { account, accountStatus } from "../../kinds/identity/account.ts";
import { clusterAccount } from "../../kinds/identity/cluster-account.ts";
import { kinds } from "../../kinds/index.ts";
import { hasResource, type ResourceKind } from "../../kinds/kind.ts";
import type { KubeObject } from "../../kube/resource.ts";
import { slugOf } from "../../platform/addresses/endpoints.ts";
import { Forbidden, NotFound, Unauthorized } from "../../platform/answers/errors.ts";
import { isWrongAddress } from "../../platform/calls/region.ts";
import { coreUrl } from "../../platform/products/core-url.ts";
import { products } from "../../platform/products/products.ts";
import { adviceFor, allObjects, isReady, type MooringObject, readyOf } from "../objects.ts";
import type { PlatformReader } from "../reader.ts";
import { apart, type Check, type DoctorInput, fail, messageOf, ok, warn } from "./check.ts";

const DAY_MS = 86_400_000;
const SOON_DAYS = 7;
const SKEW_MS = 60_000;

/** Checks every Account that the caller can read: its conditions, and its token on the platform. */
export async function accountChecks(input: DoctorInput): Promise<Check[]> {
  const { sources, namespace } = input;
  const hidden: string[] = [];
  const recording = { ...sources, missing: (what: string) => void hidden.push(what) };
  const all = [...(await allObjects(recording, namespace, [account, clusterAccount])).values()];
  const found = input.account === undefined ? all : all.filter(isNamed(input.account));
  const ask = "ask for a Role with get, list and watch on mooring.dev, such as mooring-view";
  const unseen = hidden.map((what) => warn("account", "Accounts", `not checked: ${what}`, ask));
  if (found.length === 0 && hidden.length > 0) {
    return [warn("account", "Accounts", "not checked: you may not list Accounts", ask)];
  }
  if (found.length === 0 && input.account !== undefined) {
    const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
    return [fail("account", input.account, `there is no such Account${where}`, "correct --account, or -n")];
  }
  if (found.length === 0) {
    const fix = "create an Account: docs/guides/accounts.md";
    return [
      warn(
        "account",
        "Accounts",
        `there is none ${namespace === undefined ? "" : `in namespace ${namespace}`}`.trim(),
        fix,
      ),
    ];
  }
  const checks: Check[] = unseen;
  for (const each of found) {
    checks.push(...statusChecks(each, sources.now()), ...(await platformChecks(input, each)));
    sources.progress(checks.length, "checks done");
  }
  return checks;
}

/** Whether an object is the Account of this name. */
const isNamed =
  (name: string) =>
  ({ key }: MooringObject): boolean =>
    name.includes("/") ? key === name || key === `${account.kind}/${name}` : key.endsWith(`/${name}`);

const facts = accountStatus.partial();

/** Checks the status of the Account. */
function statusChecks(each: MooringObject, now: number): Check[] {
  const { key, object } = each;
  const ready = readyOf(object);
  const status = facts.safeParse(readWhole(object)).data ?? {};
  const skew = readStatus(object).conditions?.find(({ type, status: is }) => type === "ClockSkew" && is === "True");
  const reason = ready?.reason ?? "Pending";
  const contract = status.contractNumber === undefined ? "" : `, contract ${status.contractNumber}`;
  return [
    isReady(object)
      ? ok("account", key, `Ready${contract}, user ${status.platformUserId ?? "unknown"}`)
      : fail("account", key, `${reason}: ${ready?.message ?? "not reconciled yet"}`, adviceFor(reason, each.kind)),
    ...expiry(key, status, now),
    ...(skew ? [warn("account", key, skew.message, adviceFor("ClockSkew"))] : []),
    ...(status.advice ?? []).map((advice) => {
      const { message, fix } = apart(advice);
      return warn("account", key, message, fix);
    }),
  ];
}

function expiry(key: string, { tokenExpiresAt: expires, tokenId }: z.output<typeof facts>, now: number): Check[] {
  if (expires === undefined) return [];
  const days = Math.floor((Date.parse(expires) - now) / DAY_MS);
  // The token id is known only for tokens that the operator creates, and renews.
  if (tokenId !== undefined && days >= 0) return [ok("account", key, "its token is renewed automatically")];
  const fix = tokenId === undefined ? "update its Secret" : "check that the operator runs: it renews the token";
  if (days < 0) return [fail("account", key, `its token expired on ${expires}`, fix)];
  if (days < SOON_DAYS) return [warn("account", key, `its token expires in ${days} days, on ${expires}`, fix)];
  return [ok("account", key, `its token expires in ${days} days`)];
}

/** Checks the token on the platform: endpoints, TLS, clocks, rate limits, privileges by kind. */
async function platformChecks({ sources, platformOf }: DoctorInput, { key, object }: MooringObject): Promise<Check[]> {
  const { signal } = sources;
  const title = `${key} on the platform`;
  let platform: PlatformReader;
  try {
    platform = await platformOf(accountOf(key) ?? "");
    const url = `${coreUrl(platform.endpoint("api"), "/contracts")}?depth=1`;
    const { headers } = await platform.read({ method: "GET", url, product: "core", signal });
    const first = ok(
      "account",
      title,
      `${new URL(url).host} accepts the token${url.startsWith("https:") ? ", over TLS" : ", without TLS"}`,
    );
    const skew = platform.now() - sources.now();
    return [
      first,
      Math.abs(skew) > SKEW_MS
        ? warn(
            "account",
            title,
            `this machine's clock differs from the platform's by ${Math.round(skew / 1000)} s`,
            "correct the clock, for example with NTP",
          )
        : ok("account", title, "clocks agree"),
      ...rateLimit(title, headers),
      ...(await privileges(platform, title, regionIn(object), signal)),
    ];
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Unauthorized) return [fail("account", title, messageOf(error), adviceFor("Unauthorized"))];
    if (error instanceof Forbidden) return [warn("account", title, messageOf(error), adviceFor("Forbidden"))];
    const isUnconfigured = /MOORING_|may not be read|has no key|spec\.endpoints/.test(messageOf(error));
    if (!isUnconfigured)
      return [fail("account", title, messageOf(error), "check endpoint, proxy and TLS from this machine")];
    const { message, fix } = apart(messageOf(error));
    return [warn("account", title, `not checked: ${message}`, fix)];
  }
}

function rateLimit(title: string, headers: Record<string, string>): Check[] {
  const value = (name: string) => headers[`x-ratelimit-${name}`] ?? headers[`ratelimit-${name}`];
  const remaining = value("remaining");
  if (remaining === undefined) return [];
  const limit = value("limit");
  const seen = `rate limit: ${remaining} calls are left${limit === undefined ? "" : ` of ${limit}`}`;
  if (Number(remaining) > 0) return [ok("account", title, seen)];
  return [warn("account", title, seen, "set spec.callsPerSecond of the Account, or have the limit raised")];
}

/** Checks that the token may list each kind. Kinds inside other resources are skipped. */
async function privileges(
  platform: PlatformReader,
  title: string,
  region: string | undefined,
  signal: AbortSignal,
): Promise<Check[]> {
  const allowed: string[] = [];
  const checks: Check[] = [];
  for (const kind of kinds.filter(hasResource)) {
    const url = listUrl(platform, kind);
    if (url === undefined) continue;
    try {
      await platform.read({ method: "GET", url, product: kind.resource.place.product, signal });
      allowed.push(kind.kind);
    } catch (error) {
      signal.throwIfAborted();
      const { privilege } = kind.resource.place;
      const needed = privilege === undefined ? "a privilege" : `the privilege "${privilege}"`;
      // 403 shows a missing privilege. 404 does not.
      if (error instanceof Forbidden) {
        checks.push(
          warn("account", title, `${kind.kind}: the platform refuses to list them`, `give the token's user ${needed}`),
        );
      } else if (region !== undefined && isWrongAddress(error) && isIn(region, url)) {
        checks.push(fail("account", title, `${kind.kind}: ${messageOf(error)}`, `check spec.region (${region})`));
      } else if (error instanceof NotFound) allowed.push(kind.kind);
      else
        checks.push(
          fail("account", title, `${kind.kind}: ${messageOf(error)}`, "check this endpoint from this machine"),
        );
    }
  }
  return allowed.length === 0 ? checks : [ok("account", title, `may list ${allowed.join(", ")}`), ...checks];
}

const regionIn = ({ spec }: KubeObject): string | undefined => {
  const { region } = Object(spec);
  return typeof region === "string" ? region : undefined;
};

/** Whether a URL has the region in it. */
const isIn = (region: string, url: string): boolean => url.includes(slugOf(region));

/** A path without gaps: the collection needs no parent. */
const completePath = z.string().refine((text) => !text.includes("//") && !text.includes("undefined"));

/** Undefined if the kind lives inside another resource, or if its endpoint is not set. */
function listUrl(platform: PlatformReader, { resource: { place } }: ResourceKind): string | undefined {
  const { endpoint, url } = products[place.product];
  try {
    const collection = completePath.parse(place.collection({}));
    return platform.has(endpoint) ? `${url(platform.endpoint(endpoint), collection)}?limit=1` : undefined;
  } catch {
    return undefined;
  }
}
