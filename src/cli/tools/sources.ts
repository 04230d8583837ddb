import { readFileSync } from "node:fs";
import { type ClusterReader, readCluster } from "../../diagnostics/cluster.ts";
import { type PlatformReader, readOver } from "../../diagnostics/reader.ts";
import type { Sources } from "../../diagnostics/sources.ts";
import { givenKeys, noKeys, ownKeys } from "../../diagnostics/storage-keys.ts";
import type { KubeClient } from "../../kube/client/transport.ts";
import { platforms } from "../../platform/addresses/platforms.ts";
import { Unauthorized } from "../../platform/answers/errors.ts";
import { platformTime } from "../../platform/calls/platform-time.ts";
import { systemClock } from "../../runtime/clock.ts";
import { openPlatform, type PlatformAccess } from "../platform-access.ts";
import type { Settings } from "./flags.ts";

type Env = Record<string, string | undefined>;

/** Hosts of the public platform that tools call, for users who set only the platform's own variables. */
const { api, dns, certificates, objectStorage, objectStorageManagement } = platforms.ionos;
const publicHosts = { api, dns, certificates, objectStorage, objectStorageManagement };

/** The environment with Mooring's variables. If one is not set, it has the value of the platform's own variable. */
export function understood(env: Env): Env {
  const url = env.IONOS_API_URL;
  // MOORING_TOKEN is sent only to addresses that are set explicitly.
  const usesPlatformVariables = !env.MOORING_TOKEN && (url || env.IONOS_TOKEN);
  const all = Object.keys(publicHosts).map((name) => [name, url]);
  const endpoints = {
    ...(url ? Object.fromEntries(all) : publicHosts),
    ...(env.IONOS_API_URL_OBJECT_STORAGE && { objectStorage: env.IONOS_API_URL_OBJECT_STORAGE }),
    ...(env.IONOS_API_URL_OBJECT_STORAGE_MANAGEMENT && {
      objectStorageManagement: env.IONOS_API_URL_OBJECT_STORAGE_MANAGEMENT,
    }),
  };
  return {
    ...env,
    MOORING_TOKEN: env.MOORING_TOKEN || env.IONOS_TOKEN,
    MOORING_ENDPOINTS: env.MOORING_ENDPOINTS || (usesPlatformVariables ? JSON.stringify(endpoints) : undefined),
    MOORING_S3_ACCESS_KEY: env.MOORING_S3_ACCESS_KEY || env.IONOS_S3_ACCESS_KEY,
    MOORING_S3_SECRET_KEY: env.MOORING_S3_SECRET_KEY || env.IONOS_S3_SECRET_KEY,
    MOORING_S3_REGION: env.MOORING_S3_REGION || env.IONOS_S3_REGION,
  };
}

/** The cluster and the platform to read. */
export type Where = Pick<Settings, "account" | "namespace" | "kubeconfig" | "tokenFile"> & {
  platform?: Settings["platform"];
  context?: string | undefined;
  /** The user agent for requests to the cluster. */
  userAgent?: string;
};

/**
 * The cluster and the platform, opened on first use: a server without a token starts, and reports the problem at the
 * first call.
 */
export function openSources(
  settings: Where,
  given: Env,
): Pick<Sources, "platform" | "cluster" | "now" | "schemas"> & { client(): Promise<KubeClient> } & AsyncDisposable {
  const env = understood(given);
  let access: Promise<PlatformAccess> | undefined;
  let client: Promise<KubeClient> | undefined;
  let isOver = false;

  const opened = () => {
    const { account, namespace, kubeconfig, context, platform, tokenFile } = settings;
    const token = tokenFile === undefined ? {} : { MOORING_TOKEN: readFileSync(tokenFile, "utf8").trim() };
    access ??= openPlatform({ account, namespace, kubeconfig, context, platform, env: { ...env, ...token } });
    access.catch(() => {
      access = undefined;
    });
    return access;
  };
  const closeAccess = async () => {
    const before = access;
    access = undefined;
    await (await before?.catch(() => undefined))?.[Symbol.asyncDispose]();
  };
  /** Whether the token may have been renewed since it was read. */
  const renews = settings.account !== undefined || settings.tokenFile !== undefined;

  async function platform(): Promise<PlatformReader> {
    const connection = (await opened()).connection();
    const { endpoint } = await opened();
    const read: PlatformReader["read"] = async (call) => {
      const used = await opened();
      try {
        return await readOver(used.connection())(call);
      } catch (error) {
        if (!renews || isOver || call.headers?.authorization) throw error;
        const isCurrent = used === (await access?.catch(() => undefined));
        // A concurrent read that opened a new connection has closed this one.
        if (isCurrent && !(error instanceof Unauthorized)) throw error;
        if (isCurrent) await closeAccess();
        return readOver((await opened()).connection())(call);
      }
    };
    return {
      read,
      endpoint,
      has(name) {
        try {
          return endpoint(name) !== "";
        } catch {
          return false;
        }
      },
      identity: connection.identity,
      contractNumber: connection.contractNumber,
      now: () => platformTime(systemClock, connection),
      async storageKeys(signal) {
        const keys =
          givenKeys(env) ?? (await ownKeys({ identity: connection.identity, send: read }, endpoint("api"), signal));
        if (keys) return keys;
        throw noKeys();
      },
      storageRegion: env.MOORING_S3_REGION,
    };
  }

  function connected(): Promise<KubeClient> {
    const { kubeconfig, context, userAgent = "mooring-tools" } = settings;
    // Loaded on demand: questions about the platform alone do not need the Kubernetes client.
    client ??= import("../../kube/client/config.ts").then(({ connect }) =>
      connect({ env, userAgent, kubeconfig: kubeconfig || undefined, context }),
    );
    client.catch(() => {
      client = undefined;
    });
    return client;
  }

  return {
    platform,
    client: connected,
    cluster: async (): Promise<ClusterReader> => readCluster(await connected(), settings.namespace),
    now: systemClock.now,
    schemas: async () => (await import("../manifests/schemas.ts")).schemaOf,
    async [Symbol.asyncDispose]() {
      isOver = true;
      await closeAccess();
      await (await client?.catch(() => undefined))?.close();
    },
  };
}
