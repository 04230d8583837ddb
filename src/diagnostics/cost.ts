import { z } from "zod";
import { kinds } from "../kinds/index.ts";
import { checkFields, checkText, valuesIn } from "./manifest-text.ts";
import type { PlatformReader } from "./reader.ts";
import { inOneLine, type Sources } from "./sources.ts";

const HOURS_PER_MONTH = 730;

const product = z.looseObject({
  meterId: z.string(),
  meterDesc: z.string(),
  deprecated: z.boolean().nullish(),
  type: z.string().nullish(),
  unit: z.string().nullish(),
  unitCost: z.looseObject({ quantity: z.coerce.number(), unit: z.string() }),
});
export type Product = z.output<typeof product>;

/** A quantity with a price: the type of the meter, and words of its description. */
interface Line {
  what: string;
  type: string;
  words: RegExp;
  amount: number;
}

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const disk = z.looseObject({ size: number, type: text });
const spec = z.looseObject({
  type: text,
  cores: number,
  ram: number,
  cpuFamily: text,
  templateName: text,
  size: z.unknown().optional(),
  bootVolume: disk.optional().catch(undefined),
  models: z.array(z.string()).optional().catch(undefined),
});
const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string().optional(), namespace: z.string().optional() }).optional(),
  spec: z.unknown().optional(),
});

const disks = (what: string, { size, type = "SSD Premium" }: z.output<typeof disk>): Line[] =>
  size === undefined ? [] : [{ what: `${what}, ${type}, GB`, type: "STORAGE", words: wordsLike(type), amount: size }];
/** Finds a text in a description, in any letter case. Special characters of the text match any character. */
const wordsLike = (text: string) => new RegExp(text.replaceAll(/[^\w ]/g, "."), "i");
const line = (what: string, type: string, words: RegExp, amount = 1): Line[] => [{ what, type, words, amount }];

/** For kinds whose cost depends on their use. */
const byUse = (): Line[] => [];

/** The priced parts of each kind, per hour. Every kind that is not free is listed. */
const linesOf: Record<string, (given: z.output<typeof spec>) => Line[]> = {
  Server({ type, cores = 0, ram = 0, cpuFamily = "", templateName, bootVolume }) {
    const storage = bootVolume ? disks("boot volume", bootVolume) : [];
    if (type === "CUBE") return [...line("Cube", "CUBETEMPLATE", wordsLike(templateName ?? "Cube")), ...storage];
    const core = type === "VCPU" ? /vcpu/i : cpuFamily.startsWith("AMD") ? /core.*amd/i : /core.*intel/i;
    return [...line("cores", "SERVER", core, cores), ...line("RAM, GB", "SERVER", /\bram\b/i, ram / 1024), ...storage];
  },
  Volume: (given) => disks("disk", disk.parse({ size: given.size, type: given.type })),
  IPBlock: ({ size }) => line("addresses", "IP", /address/i, Number(size) || 1),
  MetricPipeline: () => line("pipeline", "MONITORING", /metric/i),
  LogPipeline: () => line("pipeline", "LAAS", /log/i),
  // The number of tokens is not known, so only their price is shown.
  InferenceAccess: ({ models = [] }) =>
    models.flatMap((id) =>
      ["input", "output"].flatMap((direction) =>
        line(`million ${direction} tokens, ${id}`, "INFERENCE", wordsLike(`${direction} tokens, ${id}`), 0),
      ),
    ),
  KafkaCluster: ({ size }) => line("cluster", "KAFKA", new RegExp(`\\b${String(size).replaceAll(/\W/g, "")}$`, "i")),
  Snapshot: byUse,
  FlowLog: byUse,
  ScalingGroup: byUse,
  CentralLogging: byUse,
  ActivityLogExport: byUse,
};

/** Whether the price of a kind is known, or depends on its use. */
export const hasPrice = (kind: string): boolean => Object.hasOwn(linesOf, kind);

/** The cost of one object by a price catalogue, part by part. */
export function priceOf(prices: readonly Product[], kind: string, given: unknown) {
  const lines = (hasPrice(kind) && linesOf[kind]?.(spec.parse(given ?? {}))) || [];
  const priced = lines.map(({ what, type, words, amount }) => {
    const price = prices.find((each) => each.type === type && words.test(each.meterDesc));
    const perHour = price && price.unitCost.quantity * amount;
    return {
      what,
      amount,
      ...(price && { meter_id: price.meterId, meter: price.meterDesc, unit_cost: price.unitCost.quantity }),
      per_hour: rounded(perHour ?? 0, 6),
      ...(perHour === undefined && { note: "no price found" }),
    };
  });
  const perHour = priced.reduce((sum, { per_hour }) => sum + per_hour, 0);
  return {
    per_month: rounded(perHour * HOURS_PER_MONTH, 2),
    lines: priced,
    ...(lines.length === 0 && { note: "costs nothing, or depends on usage" }),
  };
}

export const currencyOf = (prices: readonly Product[]): string => prices[0]?.unitCost.unit ?? "EUR";
export const basis = `${HOURS_PER_MONTH} hours at the prices of the contract's catalogue; traffic, tokens, licences and rebates are not included`;

/** The cost of the objects in a manifest, by the price catalogue of the contract. */
export async function costEstimate(sources: Sources, asked: { manifest: string }) {
  const platform = await sources.platform();
  const prices = await catalogue(platform, sources.signal);
  const objects = documentsIn(asked.manifest);
  if (objects.length === 0) throw new Error("manifest: it has no objects; give YAML with kind, metadata and spec");
  const items = objects.map(({ kind, metadata, spec: given }) => {
    checkAmounts(kind, metadata?.name ?? "", given);
    return { kind, name: metadata?.name, ...priceOf(prices, kind, given) };
  });
  const unpriced = items.flatMap(({ kind, name, lines }) =>
    lines.flatMap(({ what, note }) => (note === undefined ? [] : [`${kind}/${name ?? ""}: ${what}`])),
  );
  const notPriced = unpriced.length > 0 && { not_priced: unpriced };
  return { items, ...notPriced, per_month: sumOf(items), currency: currencyOf(prices), basis };
}

/** Throws for a number that the kind does not allow. What is missing is not priced. */
function checkAmounts(kind: string, name: string, given: unknown): void {
  const issues = kinds.find((each) => each.kind === kind)?.spec.safeParse(given).error?.issues ?? [];
  for (const { path, message } of issues) {
    const value = path.reduce<unknown>((at, key) => Reflect.get(Object(at), key), given);
    if (typeof value !== "number") continue;
    throw new Error(
      `${`${kind} ${name}`.trim()}: ${["spec", ...path].join(".")}: ${value} cannot be priced: ${message}`,
    );
  }
}

/** The sum of all prices, rounded so that the parts add up. */
export const sumOf = (items: readonly { per_month: number }[]): number =>
  rounded(
    items.reduce((sum, { per_month }) => sum + per_month, 0),
    2,
  );

const rounded = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits;

function documentsIn(text: string): z.output<typeof manifest>[] {
  checkText(text);
  return valuesIn(text, "manifest").flatMap((value) => {
    const inside = z.looseObject({ kind: z.literal("List"), items: z.array(z.unknown()) }).safeParse(value);
    return (inside.success ? inside.data.items : [value]).flatMap((each) => {
      const { data } = manifest.safeParse(each);
      if (data && hasPrice(data.kind)) checkFields(each, "manifest");
      return data ?? [];
    });
  });
}

const profile = z.looseObject({ companies: z.array(z.looseObject({ contractId: z.coerce.number() })).min(1) });
const products = z.looseObject({ products: z.array(product) });

export async function catalogue(platform: PlatformReader, signal: AbortSignal): Promise<Product[]> {
  const root = platform
    .endpoint("api")
    .replace(/\/+$/, "")
    .replace(/\/cloudapi\/v6$/, "");
  const read = async (path: string) =>
    (await platform.read({ method: "GET", url: `${root}/billing${path}`, product: "billing", signal })).body;
  const contract = platform.contractNumber ?? profile.parse(await read("/profile")).companies[0]?.contractId;
  const found = products.safeParse(await read(`/${contract}/products`));
  if (!found.success) throw new Error(`the price catalogue of the platform is invalid: ${inOneLine(found.error)}`);
  return found.data.products.filter(({ deprecated }) => !deprecated);
}
