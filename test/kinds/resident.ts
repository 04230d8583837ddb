import { expect } from "vitest";
import { z } from "zod";
import type { FactsContext, Inputs, Operation } from "../../src/kinds/desired.ts";
import type { Kind } from "../../src/kinds/kind.ts";
import { type Platform, resource } from "../simulator/platform.ts";
import { bodyOf, mapped, sent } from "./mapped.ts";

const listed = z.object({ items: z.array(z.looseObject({ id: z.string() })) });
const bases = {
  core: "/cloudapi/v6",
  auth: "/auth/v1",
  autoscaling: "/autoscaling/v1.ea",
  monitoring: "/monitoring/de-txl",
  logging: "/logging/de-txl",
  streaming: "/streaming/de-txl",
} as const;

/** One resource on the platform as a kind made it, seen through the list that the kind asks for. */
export interface Resident {
  id: string;
  seen(): Promise<unknown>;
  facts(given: FactsContext): Promise<Record<string, unknown>>;
  /** Sends every write that a comparison with `spec` asks for until it finds no difference; gives their names. */
  settle(spec: object, given: Inputs): Promise<string[]>;
}

/** Creates what `spec` says by the kind's own body; throws what the kind has against it. */
export async function create(platform: Platform, kind: Kind, spec: object, given: Inputs): Promise<Resident> {
  const mapping = mapped(kind);
  const { parents } = given;
  const base = bases[mapping.place.product];
  const send = async ({ method, path, body }: Pick<Operation, "method" | "path" | "body">) => {
    const answer = await platform.call(method, `${base}${path}`, body === undefined ? undefined : sent(body));
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    await platform.advance(60);
    if (answer.headers.has("location")) expect(await platform.requestOf(answer)).toMatchObject({ status: "DONE" });
    return answer;
  };
  const desired = mapping.desire(spec);
  expect(desired.problem(given)).toBeUndefined();
  const path = (mapping.creation.path ?? mapping.place.collection)(parents);
  const { id } = resource(await send({ method: "POST", path, body: desired.body(given) }));

  async function seen(): Promise<unknown> {
    const { body } = await platform.call(
      "GET",
      `${base}${mapping.place.collection(parents)}?depth=${mapping.place.depth}`,
    );
    return listed.parse(body).items.find((item) => item.id === id);
  }
  return {
    id,
    seen,
    facts: async (given) => mapping.comparison.facts(await seen(), given),
    async settle(spec, given) {
      const compare = async () => mapping.desire(spec).compare(await seen(), given);
      const actions: string[] = [];
      for (let { next } = await compare(); next; { next } = await compare()) {
        await send({ ...next, body: bodyOf(next, given) });
        actions.push(next.action);
        expect(actions.length).toBeLessThan(10);
      }
      expect(await compare()).toEqual({ drift: [] });
      return actions;
    },
  };
}
