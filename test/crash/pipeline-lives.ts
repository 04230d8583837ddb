import { ROTATE_AT } from "../../src/engine/objects/names.ts";
import { readStatus } from "../../src/engine/schema/status.ts";
import type { KubeObject } from "../../src/kube/resource.ts";
import type { Life } from "./lives.ts";
import { account, type Ground } from "./manifests.ts";
import type { PromisedSecret } from "./secrets.ts";

const rotation = { title: "rotate", annotations: { [ROTATE_AT]: "first" }, renewsKey: true } as const;

/** Sends what a workload would, with what is in its Secret and nothing else. */
async function deliver(url = "", key = "", type = "", body = ""): Promise<string | undefined> {
  const headers = { apikey: key, "content-type": type };
  const { status } = await fetch(url, { method: "POST", headers, body });
  return status === 204 ? undefined : `the platform answers ${status} to what is sent with its key`;
}

const secretOf =
  (works: PromisedSecret["works"]) =>
  (object: KubeObject): PromisedSecret[] => [{ name: readStatus(object).secretName ?? "", works }];

export function metricPipeline(ground: Ground): Life {
  const renamed = { name: `renamed-${ground.nth}` };
  return {
    prerequisites: [account(ground)],
    spec: {},
    changes: [
      { title: "update", spec: renamed, shows: renamed },
      { ...rotation, spec: renamed },
    ],
    secrets: secretOf(({ endpoint, key }) => deliver(endpoint, key, "text/plain", "alive 1\n")),
  };
}

export function logPipeline(ground: Ground): Life {
  const app = { source: "generic", tag: "app", protocol: "http" };
  const more = { logs: [app, { source: "docker", tag: "web", protocol: "tcp" }] };
  return {
    prerequisites: [account(ground)],
    spec: { logs: [app] },
    changes: [
      { title: "update", spec: more },
      { ...rotation, spec: more },
    ],
    secrets: secretOf(({ httpAddress, key }) =>
      deliver(`${httpAddress}/app`, key, "application/json", JSON.stringify({ message: "alive" })),
    ),
  };
}

export function centralLogging(ground: Ground): Life {
  const [on, off] = [{ enabled: true }, { enabled: false }];
  return {
    prerequisites: [account(ground)],
    spec: on,
    changes: [
      { title: "off", spec: off, shows: off },
      { title: "on", spec: on, shows: on },
    ],
    restores: off,
  };
}
