export interface Sample {
  value: number;
  /** Milliseconds since the epoch. */
  timestamp: number;
}

/** The samples of one set of labels, with the metric's name as `__name__`. */
export interface Series {
  labels: Readonly<Record<string, string>>;
  samples: readonly Sample[];
}

export const mostSeries = 1_000;
export const mostSamples = 3_600;

/** Which samples to read. */
export interface SampleFilter {
  /** Of the metric with this name. */
  name?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
  /** No more than this many per series, the highest and the lowest among them. */
  most?: number | undefined;
}

/**
 * The samples of metric pipelines: in memory only and bounded. Beyond the bounds the series without new samples for
 * longest is dropped, and the oldest samples of a series; both are counted.
 */
export interface Samples {
  /** Adds samples in any order; one of an instant that the series has already is ignored. */
  add(pipelineId: string, series: readonly Series[]): void;
  /** The samples in order of their time; without series that have none left after the filter. */
  read(pipelineId: string, filter?: SampleFilter): Series[];
  counts(pipelineId: string): { series: number; samples: number; droppedSeries: number; droppedSamples: number };
  /** The time of the newest sample. */
  newest(pipelineId: string): number | undefined;
  forget(pipelineId: string): void;
}

/** One series in two lists of numbers: objects would take several times the memory. */
interface Track {
  labels: Readonly<Record<string, string>>;
  times: number[];
  values: number[];
}

/** The series of one pipeline. */
interface Shelf {
  /** By labels. The series without new samples for longest comes first. */
  tracks: Map<string, Track>;
  droppedSeries: number;
  droppedSamples: number;
}

export function createSamples(): Samples {
  const shelves = new Map<string, Shelf>();

  function addTo(shelf: Shelf, { labels, samples }: Series): void {
    const key = keyOf(labels);
    const track = shelf.tracks.get(key) ?? { labels, times: [], values: [] };
    shelf.tracks.delete(key);
    shelf.tracks.set(key, track);
    for (const sample of samples) if (insert(track, sample)) shelf.droppedSamples += 1;
    const [oldest] = shelf.tracks;
    if (shelf.tracks.size <= mostSeries || oldest === undefined) return;
    shelf.tracks.delete(oldest[0]);
    shelf.droppedSeries += 1;
    shelf.droppedSamples += oldest[1].times.length;
  }

  return {
    add(pipelineId, series) {
      const shelf = shelves.get(pipelineId) ?? { tracks: new Map(), droppedSeries: 0, droppedSamples: 0 };
      shelves.set(pipelineId, shelf);
      for (const each of series) addTo(shelf, each);
    },
    read(pipelineId, { name, since = Number.NEGATIVE_INFINITY, until, most = mostSamples } = {}) {
      const found: Series[] = [];
      for (const { labels, times, values } of shelves.get(pipelineId)?.tracks.values() ?? []) {
        if (name !== undefined && labels.__name__ !== name) continue;
        const end = until === undefined ? times.length : placeOf(times, until + 1);
        const samples = shownIndexes(values, placeOf(times, since), end, most).map((index) => ({
          value: values[index] ?? 0,
          timestamp: times[index] ?? 0,
        }));
        if (samples.length > 0) found.push({ labels, samples });
      }
      return found;
    },
    counts(pipelineId) {
      const { tracks, droppedSeries = 0, droppedSamples = 0 } = shelves.get(pipelineId) ?? {};
      let samples = 0;
      for (const { times } of tracks?.values() ?? []) samples += times.length;
      return { series: tracks?.size ?? 0, samples, droppedSeries, droppedSamples };
    },
    newest(pipelineId) {
      let newest: number | undefined;
      for (const { times } of shelves.get(pipelineId)?.tracks.values() ?? []) {
        newest = Math.max(newest ?? Number.NEGATIVE_INFINITY, times.at(-1) ?? Number.NEGATIVE_INFINITY);
      }
      return newest;
    },
    forget: (pipelineId) => void shelves.delete(pipelineId),
  };
}

/** Inserts a sample; true when the oldest one was dropped for it. */
function insert({ times, values }: Track, { timestamp, value }: Sample): boolean {
  const place = placeOf(times, timestamp);
  if (times[place] === timestamp) return false;
  times.splice(place, 0, timestamp);
  values.splice(place, 0, value);
  if (times.length <= mostSamples) return false;
  times.shift();
  values.shift();
  return true;
}

/** Index of the first instant that is not before `instant`. Samples mostly come in order: the end is tried first. */
function placeOf(times: readonly number[], instant: number): number {
  if ((times.at(-1) ?? Number.NEGATIVE_INFINITY) < instant) return times.length;
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

const keyOf = (labels: Series["labels"]) =>
  JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

/**
 * The indexes of at most `most` values from `first` up to `end`: of each of many short spans the lowest and the
 * highest, in order, so that peaks stay.
 */
export function shownIndexes(values: readonly number[], first: number, end: number, most: number): number[] {
  const count = Math.max(0, end - first);
  if (count <= most) return Array.from({ length: count }, (_, index) => first + index);
  const spans = Math.floor(most / 2);
  return Array.from({ length: spans }).flatMap((_, span) => {
    const from = first + Math.floor((span * count) / spans);
    const to = first + Math.floor(((span + 1) * count) / spans);
    let [lowest, highest] = [from, from];
    for (let index = from; index < to; index += 1) {
      const value = values[index] ?? Number.NaN;
      if (value < (values[lowest] ?? 0)) lowest = index;
      if (value > (values[highest] ?? 0)) highest = index;
    }
    return lowest === highest ? [lowest] : [Math.min(lowest, highest), Math.max(lowest, highest)];
  });
}
