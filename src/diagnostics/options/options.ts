import { z } from "zod";
import { kafkaCluster } from "../../kinds/streaming/kafka-cluster.ts";
import { coreUrl } from "../../platform/products/core-url.ts";
import { catalogue, currencyOf, type Product, priceOf } from "../cost.ts";
import type { PlatformReader } from "../reader.ts";
import { attempt, type Sources } from "../sources.ts";
import type { Topic } from "./topics.ts";

/** The fields in which values of a topic are valid. */
export const fieldsOf: Record<Topic, string> = {
  locations: "spec.location of Datacenter and IPBlock, spec.region of Account",
  "cpu-families": "spec.cpuFamily of Server",
  images: "spec.bootVolume of Server, spec of Volume: imageAlias takes an alias, imageLookup a name, image an id",
  templates: "spec.templateName of Server with type CUBE",
  "kafka-sizes": "spec.size of KafkaCluster",
  models: "spec.models of InferenceAccess",
};

export type Option = Record<string, string | number | undefined> & { value: string };

/** Valid values for spec from the platform's catalogues. Catalogues that could not be read are listed. */
export async function options(sources: Sources, asked: { topics: readonly Topic[]; location?: string | undefined }) {
  const missing: string[] = [];
  const found: { topic: Topic; field: string; items: Option[] }[] = [];
  const platform = await sources.platform();
  let prices: Product[] | undefined;
  if (asked.topics.some((topic) => topic === "templates" || topic === "kafka-sizes")) {
    await attempt(sources, "prices", missing, async () => {
      prices = await catalogue(platform, sources.signal);
    });
  }
  for (const topic of asked.topics) {
    await attempt(sources, topic, missing, async () => {
      const items = await readers[topic](platform, sources.signal, prices);
      const here = items.filter(({ location }) => !location || !asked.location || location === asked.location);
      found.push({ topic, field: fieldsOf[topic], items: here });
      sources.progress(found.length, "catalogues read");
    });
  }
  return { options: found, ...(missing.length > 0 && { not_checked: missing }) };
}

const location = z.looseObject({
  id: z.string(),
  properties: z.looseObject({
    name: z.string().nullish(),
    features: z.array(z.string()).nullish(),
    cpuArchitecture: z
      .array(z.looseObject({ cpuFamily: z.string(), maxCores: z.number().nullish(), maxRam: z.number().nullish() }))
      .nullish(),
  }),
});
const image = z.looseObject({
  id: z.string(),
  properties: z.looseObject({
    name: z.string(),
    location: z.string().nullish(),
    imageType: z.string().nullish(),
    licenceType: z.string().nullish(),
    public: z.boolean().nullish(),
    imageAliases: z.array(z.string()).nullish(),
  }),
});
const template = z.looseObject({
  id: z.string(),
  properties: z.looseObject({
    name: z.string(),
    cores: z.number(),
    ram: z.number(),
    storageSize: z.number().nullish(),
  }),
});
const models = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      context_window: z.number().nullish(),
      pricing: z
        .looseObject({
          currency: z.string(),
          input_per_million_tokens: z.number().nullish(),
          output_per_million_tokens: z.number().nullish(),
        })
        .nullish(),
    }),
  ),
});

type Reader = (platform: PlatformReader, signal: AbortSignal, prices: Product[] | undefined) => Promise<Option[]>;

const readers: Record<Topic, Reader> = {
  async locations(platform, signal) {
    const all = await read(platform, location, "/locations", signal);
    return all.map(({ id, properties: { name, features } }) => ({
      value: id,
      name: name ?? "",
      features: (features ?? []).join(", "),
    }));
  },
  async "cpu-families"(platform, signal) {
    const all = await read(platform, location, "/locations", signal);
    return all.flatMap(({ id, properties: { cpuArchitecture } }) =>
      (cpuArchitecture ?? []).map(({ cpuFamily, maxCores, maxRam }) => ({
        value: cpuFamily,
        location: id,
        most_cores: maxCores ?? undefined,
        most_ram_mb: maxRam ?? undefined,
      })),
    );
  },
  async images(platform, signal) {
    const all = await read(platform, image, "/images", signal);
    return all.flatMap(({ id, properties: { imageAliases, ...each } }) => {
      const facts = {
        location: each.location ?? "",
        type: each.imageType ?? "",
        licence: each.licenceType ?? "",
        public: each.public ? "yes" : "no",
      };
      const own = { value: each.name, ...facts, id };
      return [...(imageAliases ?? []).map((alias) => ({ value: alias, ...facts, id })), own];
    });
  },
  async templates(platform, signal, prices) {
    const all = await read(platform, template, "/templates", signal);
    return all.map(({ id, properties: { name, cores, ram, storageSize } }) => ({
      value: name,
      cores,
      ram_mb: ram,
      storage_gb: storageSize ?? undefined,
      ...(prices && priced(prices, "Server", { type: "CUBE", templateName: name })),
      id,
    }));
  },
  async "kafka-sizes"(_platform, _signal, prices) {
    return sizes.map((size) => ({ value: size, ...(prices && priced(prices, "KafkaCluster", { size })) }));
  },
  async models(platform, signal) {
    const url = `${platform.endpoint("inference").replace(/\/+$/, "")}/v1/models`;
    const { body } = await platform.read({ method: "GET", url, product: "inference", signal });
    return models.parse(body).data.map(({ id, context_window, pricing }) => ({
      value: id,
      context: context_window ?? undefined,
      input_per_million: pricing?.input_per_million_tokens ?? undefined,
      output_per_million: pricing?.output_per_million_tokens ?? undefined,
      currency: pricing?.currency,
    }));
  },
};

/** The sizes that the schema of the kind allows. The platform has no catalogue of them. */
const sizes: readonly string[] = z
  .object({ enum: z.array(z.string()) })
  .catch({ enum: [] })
  .parse(z.toJSONSchema(kafkaCluster.spec.shape.size ?? z.never(), { io: "input", unrepresentable: "any" })).enum;

function priced(prices: readonly Product[], kind: string, spec: object) {
  const { per_month, lines } = priceOf(prices, kind, spec);
  return lines.some((line) => "meter_id" in line) ? { per_month, currency: currencyOf(prices) } : {};
}

const PAGE = 1_000;
const MOST_PAGES = 20;

async function read<Item>(
  platform: PlatformReader,
  shape: z.ZodType<Item>,
  path: string,
  signal: AbortSignal,
): Promise<Item[]> {
  const page = z.looseObject({ items: z.array(shape) });
  const all: Item[] = [];
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const url = `${coreUrl(platform.endpoint("api"), path)}?depth=1&limit=${PAGE}&offset=${all.length}`;
    const { items } = page.parse((await platform.read({ method: "GET", url, product: "core", signal })).body);
    // Some catalogues ignore paging and return everything.
    all.push(...items);
    if (items.length !== PAGE) return all;
  }
  return all;
}
