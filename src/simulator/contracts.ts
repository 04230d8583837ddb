import { z } from "zod";
import { createActivity } from "./activity/log.ts";
import type { Agenda } from "./agenda.ts";
import { createLedger } from "./billing/ledger.ts";
import { type Counters, createChance, fixedChance } from "./chance.ts";
import { stockCatalogue } from "./core/compute/catalogue.ts";
import { firstS3Key } from "./core/users/s3-keys.ts";
import type { Forms } from "./http/exchange.ts";
import { createIdentity } from "./identity/identity.ts";
import { createAccessKeys } from "./records/access-keys.ts";
import { createCertificateRecords } from "./records/certificates.ts";
import { createDnsRecords } from "./records/dns.ts";
import { limitsSchema } from "./records/limits.ts";
import { createPipelineRecords, lineRetention } from "./records/pipelines.ts";
import { requestSchema } from "./records/requests.ts";
import { createScalingRecords } from "./records/scaling/records.ts";
import { createStreamingRecords, type DataPlane } from "./records/streaming.ts";
import { createUsage } from "./records/usage.ts";
import type { Documents } from "./store/documents.ts";
import { createResources } from "./store/resources.ts";
import { createLines } from "./telemetry/lines.ts";
import { createSamples } from "./telemetry/samples.ts";
import { machineTime, type SimulatedClock } from "./time.ts";
import { createViewer, guardedResources, guardedTable } from "./visibility.ts";
import type { ContractStorage, Contracts, Owner, World } from "./world.ts";

/** The parts that all contracts share. */
export interface ContractParts {
  seed: number;
  forms: Forms;
  clock: SimulatedClock;
  agenda: Agenda;
  counters: Counters;
  documents: Documents;
  storage: ContractStorage;
  dataPlane: DataPlane;
  forwardAddress(): string;
  objectStorageUrl(): string;
}

export function createContracts(parts: ContractParts): Contracts {
  const { documents, seed } = parts;
  const numberOf = (nth: number) => 31_000_000 + Math.floor(fixedChance(seed, "contract", nth) * 1_000_000);
  const visitors: ((world: World) => void)[] = [];
  const first = createWorld(parts, documents, numberOf(0), "");
  const worlds = new Map([[first.contractNumber, first]]);
  const further = documents.table("contracts", z.object({ contractNumber: z.number() }));
  // A restart creates the worlds here, too: the row of a contract is restored before the rows in it.
  further.watch((_before, after) => {
    if (after === undefined || worlds.has(after.contractNumber)) return;
    const { contractNumber } = after;
    const scope = `${contractNumber}/`;
    const own: Documents = { ...documents, table: (name, schema) => documents.table(scope + name, schema) };
    const world = createWorld(parts, own, contractNumber, scope);
    worlds.set(contractNumber, world);
    for (const visit of visitors) visit(world);
  });

  /** Contracts whose creation was rolled back are left out. */
  const all = () => [first, ...[...further.values()].flatMap(({ contractNumber }) => worlds.get(contractNumber) ?? [])];

  function open(world: World, { username, password }: Parameters<Contracts["add"]>[0] = {}): Owner {
    const { contractNumber, identity } = world;
    const isFirst = world === first;
    const { user, token } = identity.open({
      username: username ?? `owner${isFirst ? "" : `-${contractNumber}`}@simulator.example`,
      password,
      privateKey: isFirst ? undefined : first.identity.privateKey(),
    });
    stockCatalogue(world);
    return {
      contractNumber,
      username: user.username,
      password: user.password,
      token,
      s3: firstS3Key(world, user),
    };
  }

  return {
    first,
    all,
    of: (contractNumber) => all().find((world) => world.contractNumber === contractNumber),
    each(visit) {
      for (const world of worlds.values()) visit(world);
      visitors.push(visit);
    },
    add(owner) {
      let nth = worlds.size;
      while (worlds.has(numberOf(nth))) nth += 1;
      const contractNumber = numberOf(nth);
      further.put(String(contractNumber), { contractNumber });
      const world = worlds.get(contractNumber);
      if (world === undefined) throw new Error(`the contract ${contractNumber} was not opened`);
      return open(world, owner);
    },
    open: (world) => open(world),
  };
}

function createWorld(parts: ContractParts, documents: Documents, contractNumber: number, scope: string): World {
  const { seed, forms, clock, agenda, counters, storage, dataPlane, forwardAddress, objectStorageUrl } = parts;
  const chance = createChance(seed, counters, scope);
  const everything = createResources(documents);
  const viewer = createViewer();
  const resources = guardedResources(everything, viewer);
  const scaling = createScalingRecords(documents);
  const streaming = createStreamingRecords(documents);
  const pipelines = createPipelineRecords(documents);
  const dns = createDnsRecords(documents);
  const identity = createIdentity({ documents, resources: everything, chance, clock, contractNumber });
  const creatorOnly = { see: ({ createdBy }: { createdBy: string }, user: { id: string }) => createdBy === user.id };
  return {
    clock,
    machine: machineTime,
    agenda,
    chance,
    counters,
    documents,
    resources,
    viewer,
    requests: guardedTable(documents.table("requests", requestSchema), viewer, creatorOnly),
    identity,
    activity: createActivity({ documents, counters, chance, clock, identity, scope }),
    contractNumber,
    forms,
    isFirst: scope === "",
    limits: documents.table("limits", limitsSchema),
    usage: createUsage(everything),
    scaling: {
      ...scaling,
      groups: guardedTable(scaling.groups, viewer, {
        see: (group, user) =>
          creatorOnly.see(group, user) || resources.get(`datacenters/${group.properties.datacenter.id}`) !== undefined,
        change: creatorOnly.see,
      }),
    },
    storage: {
      hasBucket: (name) => storage.hasBucket(name, contractNumber),
      async put(bucket, key, content) {
        // The bucket may be deleted, and its name taken by another contract.
        if (!storage.hasBucket(bucket, contractNumber)) throw new Error(`the bucket ${bucket} does not exist`);
        await storage.put(bucket, key, content);
      },
    },
    pipelines,
    samples: createSamples(),
    lines: createLines({
      now: () => clock.now(),
      keeps: (pipelineId, tag) => lineRetention({ pipelines }, pipelineId, tag),
    }),
    forwardAddress,
    streaming: { ...streaming, clusters: guardedTable(streaming.clusters, viewer, creatorOnly) },
    dataPlane,
    dns,
    certificates: createCertificateRecords(documents),
    accessKeys: createAccessKeys(documents),
    objectStorageUrl,
    billing: createLedger({ documents, counters, clock, scope, resources: everything, pipelines, streaming, dns }),
  };
}
