import { expect } from "vitest";
import { z } from "zod";
import { type Answer, type CallOptions, type Platform, resource } from "./platform.ts";

const keyShape = z.object({ key: z.string().min(32) });

export const stream = (more: object = {}) => ({ source: "kubernetes", tag: "k8s", protocol: "tcp", ...more });

/** Calls of one product in one region. */
export function serviceFor(platform: Platform, service: "monitoring" | "logging", region = "de-txl") {
  const base = `/${service}/${region}`;
  const call = (method: string, path: string, body?: unknown, options?: CallOptions) =>
    platform.call(method, base + path, body, options);

  /** Makes a pipeline and waits until it is AVAILABLE. */
  async function made(properties: object = {}) {
    const logs = service === "logging" ? { logs: [stream()] } : {};
    const answer = await call("POST", "/pipelines", { properties: { name: "shop", ...logs, ...properties } });
    expect(answer).toMatchObject({ status: 201 });
    await platform.advance(7);
    const { id, metadata, properties: shown } = resource(answer);
    return {
      id,
      path: `/pipelines/${id}`,
      key: keyShape.parse(service === "monitoring" ? metadata : shown).key,
      endpoint: String(metadata.httpEndpoint),
    };
  }

  return { base, call, made, url: platform.ready.endpoints.api + base };
}

export const keyIn = (answer: Answer) => keyShape.parse(answer.body).key;
