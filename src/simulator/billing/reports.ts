import type { Call } from "../http/exchange.ts";
import { missing } from "../http/refusal.ts";
import { timestamp } from "../time.ts";
import type { World } from "../world.ts";
import { contractIdOf, customerIdOf } from "./invoices.ts";
import { meterOf, meters } from "./meters.ts";
import {
  byMeter,
  byPlace,
  bytesOf,
  type Counted,
  contractWide,
  countedIn,
  dateAt,
  daysIn,
  monthOf,
  type Place,
  periodAt,
  rounded,
  type Span,
} from "./reckoning.ts";

export const metadataOf = (world: World, more: object = {}) => ({
  contractId: contractIdOf(world),
  customerId: customerIdOf(world),
  ...more,
});

const dates = ({ from, to }: Span, now: number) => ({
  startDate: timestamp(from),
  endDate: timestamp(Math.min(to, now)),
});

/** The usage since the first of this month, by meter. */
export function usage(world: World, datacenterId?: string) {
  const span = monthOf(periodAt(world.clock.now()));
  const places = byPlace(countedIn(world, span)).filter(
    ({ place }) => datacenterId === undefined || place.id === datacenterId,
  );
  const isKnown = world.resources.get(`datacenters/${datacenterId}`) !== undefined;
  if (datacenterId !== undefined && places.length === 0 && !isKnown) throw missing();
  return {
    ...dates(span, world.clock.now()),
    metadata: metadataOf(world),
    datacenters: places.map(({ place, counted }) => ({
      ...place,
      meters: byMeter(counted).map(({ meterId, quantity }) => {
        const { desc, unit } = meterOf(meterId);
        return { meterId, meterDesc: desc, quantity: { quantity: String(rounded(quantity, 6)), unit } };
      }),
    })),
  };
}

/** The usage of each resource in a span; `dc`, `resource` and `type` of the query narrow it. */
export function utilization(world: World, span: Span, { query }: Call) {
  const matches = (wanted: string | null | undefined, value: string) => !wanted || wanted === value;
  const counted = countedIn(world, span).filter(
    ({ interval: { id, datacenter, meterId } }) =>
      matches(query.get("dc"), datacenter?.id ?? contractWide.id) &&
      matches(query.get("resource"), id) &&
      matches(query.get("type")?.toUpperCase(), meterOf(meterId).type),
  );
  return {
    ...dates(span, world.clock.now()),
    metadata: metadataOf(world),
    datacenters: byPlace(counted).map(({ place, counted: here }) => ({
      id: place.id,
      name: place.name,
      meters: here.map(({ interval, part, quantity }) => {
        const { id, name, serverId, region, meterId, n, to } = interval;
        const { desc, unit, type } = meterOf(meterId);
        return {
          id: String(n),
          resourceId: id,
          ...(serverId !== null && { serverId }),
          name,
          type,
          from: timestamp(part.from),
          to: timestamp(part.to),
          exists: to === null,
          meterId,
          meterDesc: desc,
          region,
          quantity: { quantity: rounded(quantity, 6), unit },
        };
      }),
    })),
  };
}

/** One line per interval. The quantity is `value / valueDivisor * intervalMin / intervalDivisor`. */
function evnLine({ interval, part, quantity }: Counted) {
  const { meterId, id, amount, serverId } = interval;
  const { type, unit } = meterOf(meterId);
  // Bytes and tokens are counted; everything else is an amount over a time.
  const isCounted = unit === "1GB" || unit === "1M tokens";
  const countedDivisor = unit === "1GB" ? 1e9 : 1e6;
  const divisor = isCounted ? countedDivisor : 1000;
  return {
    resourceType: type,
    resourceUUID: id,
    intervalMin: isCounted ? 60 : (part.to - part.from) / 60_000,
    intervalDivisor: 60,
    from: timestamp(part.from),
    to: timestamp(part.to),
    itemStub: meterId,
    value: Math.round((isCounted ? quantity : amount) * divisor),
    valueDivisor: divisor,
    additionalParameters: serverId === null ? {} : { serverUUID: serverId },
  };
}

export function evn(world: World, period = periodAt(world.clock.now())) {
  const datacenters = byPlace(countedIn(world, monthOf(period))).map(({ place, counted }) => ({
    vdcUUID: place.id,
    name: place.name,
    data: counted.map(evnLine),
  }));
  const rows = datacenters.flatMap(({ vdcUUID, name, data }) =>
    data.map((line) =>
      [vdcUUID, csv(name), line.resourceType, line.resourceUUID, line.itemStub]
        .concat([line.from, line.to, String(line.value), String(line.valueDivisor)])
        .join(";"),
    ),
  );
  const header = "vdcUUID;name;resourceType;resourceUUID;itemStub;from;to;value;valueDivisor";
  return { metadata: metadataOf(world, { period }), datacenters, evnCSV: [header, ...rows] };
}

const csv = (text: string) => (/[";\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

interface Volume {
  Date: string;
  In: number;
  Out: number;
}

/** Bytes by day, of each datacenter and of each address. */
export function traffic(world: World, { query }: Call, period = periodAt(world.clock.now())) {
  const ip = query.get("ip") || undefined;
  const seen = countedIn(world, monthOf(period)).filter(
    ({ interval: { meterId, ips } }) => meterId === "TO1000" && (ip === undefined || ips.includes(ip)),
  );
  const nics = seen.map(({ interval, part }) => ({
    place: interval.datacenter ?? contractWide,
    ip: interval.ips[0] ?? "",
    dates: [...daysIn(part)].map((day) => ({
      Date: dateAt(day.from),
      In: bytesOf(interval, "In", day),
      Out: bytesOf(interval, "Out", day),
    })),
  }));
  const placed = (place: Place) => ({ vdcUUID: place.id, vdcName: place.name });
  const nic = nics.map((each) => ({ ...placed(each.place), ip: each.ip, dates: each.dates }));
  const vdc = [...Map.groupBy(nics, ({ place }) => place.id).values()].map((group) => ({
    ...placed(group[0]?.place ?? contractWide),
    dates: sumsByDay(group.flatMap((each) => each.dates)),
  }));
  const rows = nic.flatMap((each) =>
    each.dates.map((day) => [each.vdcUUID, each.vdcName, each.ip, day.Date, String(day.In), String(day.Out)]),
  );
  return {
    metadata: metadataOf(world, { period, unit: "Byte" }),
    trafficObj: { vdc, nic },
    trafficArr: { vdc: vdc.map(Object.values), nic: nic.map(Object.values) },
    traffic: [["vdcUUID", "vdcName", "ip", "Date", "In", "Out"], ...rows],
  };
}

/** The sums of each day, in order. */
const sumsByDay = (volumes: readonly Volume[]): Volume[] =>
  [...Map.groupBy(volumes, ({ Date: date }) => date)]
    .map(([date, group]) => ({
      Date: date,
      In: group.reduce((total, each) => total + each.In, 0),
      Out: group.reduce((total, each) => total + each.Out, 0),
    }))
    .sort((a, b) => (a.Date < b.Date ? -1 : 1));

export const products = (world: World) => ({
  metadata: metadataOf(world),
  liability: "Prices of the simulator, without taxes; they are not those of the platform.",
  products: Object.entries(meters).map(([meterId, { desc, unit, type, cost }]) => ({
    meterId,
    meterDesc: desc,
    deprecated: false,
    unit,
    type,
    term: "hourly",
    unitCost: { quantity: String(cost), unit: "EUR" },
  })),
});
