/** Metrics as families of samples, and how they are written: for Prometheus (text format 0.0.4), and as Spring Boot's actuator has them. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  /** name in the form of Prometheus, with its unit, and `_total` for counters */
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Distribution {
  readonly labels: Readonly<Record<string, string>>;
  /** number of values at or below each bound */
  readonly inBucket: readonly number[];
  readonly sum: number;
  readonly count: number;
}

export interface HistogramFamily {
  readonly name: string;
  readonly type: 'histogram';
  readonly help: string;
  /** upper bounds of the buckets, ascending */
  readonly bounds: readonly number[];
  readonly distributions: readonly Distribution[];
}

export type Family = MetricFamily | HistogramFamily;

/** Adds values up, by labels. */
export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
  family(name: string, help: string): HistogramFamily;
}

export function createHistogram(bounds: readonly number[]): Histogram {
  const byLabels = new Map<
    string,
    { labels: Sample['labels']; inBucket: number[]; sum: number; count: number }
  >();
  return {
    observe(labels, value) {
      const key = JSON.stringify(labels);
      const known = byLabels.get(key) ?? { labels, inBucket: bounds.map(() => 0), sum: 0, count: 0 };
      byLabels.set(key, known);
      for (const [at, bound] of bounds.entries()) if (value <= bound) known.inBucket[at]! += 1;
      known.sum += value;
      known.count += 1;
    },
    family: (name, help) => ({ name, type: 'histogram', help, bounds, distributions: inOrder(byLabels) }),
  };
}

export interface Counter {
  add(labels: Readonly<Record<string, string>>, value?: number): void;
  family(name: string, help: string): MetricFamily;
}

export function createCounter(): Counter {
  const byLabels = new Map<string, { labels: Sample['labels']; value: number }>();
  return {
    add(labels, value = 1) {
      const key = JSON.stringify(labels);
      const known = byLabels.get(key) ?? { labels, value: 0 };
      byLabels.set(key, known);
      known.value += value;
    },
    family: (name, help) => ({ name, type: 'counter', help, samples: inOrder(byLabels) }),
  };
}

function inOrder<T>(byLabels: ReadonlyMap<string, T>): T[] {
  return [...byLabels].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

export function gauge(name: string, help: string, value: number | readonly Sample[]): MetricFamily {
  const samples = typeof value === 'number' ? [{ labels: {}, value }] : value;
  return { name, type: 'gauge', help, samples };
}

/** Ends with a line end. */
export function prometheusText(families: readonly Family[]): string {
  const lines = families.flatMap((family) => [
    `# HELP ${family.name} ${family.help}`,
    `# TYPE ${family.name} ${family.type}`,
    ...(family.type === 'histogram'
      ? family.distributions.flatMap((one) => distributionLines(family, one))
      : family.samples.map(({ labels, value }) => `${family.name}${braced(labels)} ${value}`)),
  ]);
  return `${lines.join('\n')}\n`;
}

function distributionLines({ name, bounds }: HistogramFamily, one: Distribution): string[] {
  const { labels, inBucket, sum, count } = one;
  return [
    ...bounds.map((bound, at) => `${name}_bucket${braced({ ...labels, le: String(bound) })} ${inBucket[at]}`),
    `${name}_bucket${braced({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${braced(labels)} ${sum}`,
    `${name}_count${braced(labels)} ${count}`,
  ];
}

function braced(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escape(label: string): string {
  return label.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

export interface ActuatorMetric {
  readonly name: string;
  readonly description: string;
  readonly baseUnit?: string;
  readonly measurements: readonly { readonly statistic: string; readonly value: number }[];
  readonly availableTags: readonly { readonly tag: string; readonly values: readonly string[] }[];
}

const units = { seconds: 'seconds', bytes: 'bytes' } as const;

/** The name that the actuator has for a family: parts joined by points, without unit and `_total`. */
export function actuatorName({ name }: Family): string {
  return name
    .replace(/_total$/, '')
    .replace(/_(?:seconds|bytes)$/, '')
    .replaceAll('_', '.');
}

/** Returns one metric, from the samples that have all the tags (`KEY:VALUE`), or null if there is none. */
export function actuatorMetric(family: Family, tags: readonly string[]): ActuatorMetric | null {
  const wanted = tags.map(
    (tag) => [tag.slice(0, tag.indexOf(':')), tag.slice(tag.indexOf(':') + 1)] as const,
  );
  const fits = ({ labels }: { readonly labels: Sample['labels'] }): boolean =>
    wanted.every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
  const all = family.type === 'histogram' ? family.distributions : family.samples;
  const chosen = all.filter(fits);
  if (chosen.length === 0 && (tags.length > 0 || family.type === 'gauge')) return null;
  const unit = /_(seconds|bytes)(?:_total)?$/.exec(family.name)?.[1] as keyof typeof units | undefined;
  const given = new Set(wanted.map(([name]) => name));
  const names = [...new Set(chosen.flatMap(({ labels }) => Object.keys(labels)))].filter(
    (name) => !given.has(name),
  );
  return {
    name: actuatorName(family),
    description: family.help,
    ...(unit === undefined ? {} : { baseUnit: units[unit] }),
    measurements: measurementsOf(family, fits),
    availableTags: names.map((tag) => ({
      tag,
      values: [...new Set(chosen.flatMap(({ labels }) => labels[tag] ?? []))].toSorted(),
    })),
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function measurementsOf(
  family: Family,
  fits: (one: { readonly labels: Sample['labels'] }) => boolean,
): ActuatorMetric['measurements'] {
  if (family.type !== 'histogram') {
    const value = total(family.samples.filter(fits).map((one) => one.value));
    return [{ statistic: family.type === 'counter' ? 'COUNT' : 'VALUE', value }];
  }
  const chosen = family.distributions.filter(fits);
  return [
    { statistic: 'COUNT', value: total(chosen.map(({ count }) => count)) },
    { statistic: 'TOTAL_TIME', value: total(chosen.map(({ sum }) => sum)) },
  ];
}
