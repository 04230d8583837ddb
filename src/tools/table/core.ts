import { z } from "zod";
import { type Group, list, type Row, reading, resource } from "./row.ts";

const depth = (text: string) => z.int().min(0).max(5).optional().describe(text);
const depthOfList = depth("0: ids only; 1 (default): with properties; 2 and more: with nested resources.");
const depthOfOne = depth("Depth of the nested resources that are shown.");
const filters = z
  .record(
    z.string().regex(/^[A-Za-z]+(\.[A-Za-z]+)?$/, "must be the name of a property"),
    z.union([z.string().max(256), z.number(), z.boolean()]),
  )
  .optional()
  .describe("Only items whose property contains the value, for example {name: web}.");

const filterQuery = (given: z.output<typeof filters> = {}) =>
  Object.fromEntries(Object.entries(given).map(([property, value]) => [`filter.${property}`, String(value)]));

/** Tools for collections and items of the core API. */
export const coreRows = (group: Group) => ({
  list: (name: string, path: string, description: string): Row =>
    reading({
      name,
      group,
      description,
      api: "core",
      path,
      result: list,
      narrow: "set filters, or depth 0 for ids only",
      args: { depth: depthOfList, filters },
      query: (args) => ({ depth: String(args.depth ?? 1), ...filterQuery(args.filters) }),
    }),
  get: (name: string, path: string, description: string, usual?: { depth: number; result: z.ZodType }): Row =>
    reading({
      name,
      group,
      description,
      api: "core",
      path,
      result: usual?.result ?? resource,
      narrow: "set a smaller depth",
      args: { depth: depthOfOne },
      query(args): Record<string, string> {
        const depth = args.depth ?? usual?.depth;
        return depth === undefined ? {} : { depth: String(depth) };
      },
    }),
  /** Without depth and filters. */
  plain: (
    name: string,
    path: string,
    description: string,
    result: z.ZodType,
    shape: (answer: unknown) => unknown = (answer) => answer,
  ): Row => reading({ name, group, description, api: "core", path, result, shape }),
});
