/** Results as markdown: one table of rates, one of the goals. */
import { cpus } from 'node:os';
import { median, type Measured } from './measured-process.ts';

export interface Run extends Pick<Measured, 'seconds' | 'wallSeconds' | 'peakBytes'> {
  /** what the processors spent on it, a server's work for it among it; absent: not counted */
  readonly cpuSeconds?: number;
}

/** All runs of one contestant on one document. */
export interface Result {
  readonly name: string;
  readonly column: string;
  /** of the document; 0 where a rate says nothing */
  readonly bytes: number;
  readonly runs: Run[];
}

export class Results {
  readonly #results = new Map<string, Result>();
  /** what our Parquet files have of the size of DuckDB's, in the last round; null: not measured */
  parquetSize: number | null = null;

  add(name: string, column: string, bytes: number, run: Run): void {
    const key = `${name} ${column}`;
    const result = this.#results.get(key) ?? { name, column, bytes, runs: [] };
    this.#results.set(key, result);
    result.runs.push(run);
  }

  /** Median seconds of the work. */
  seconds(name: string, column: string): number | null {
    const result = this.#results.get(`${name} ${column}`);
    return result === undefined ? null : median(result.runs.map((run) => run.seconds));
  }

  wallSeconds(name: string, column: string): number | null {
    const result = this.#results.get(`${name} ${column}`);
    return result === undefined ? null : median(result.runs.map((run) => run.wallSeconds));
  }

  cpuSeconds(name: string, column: string): number | null {
    const runs = this.#results.get(`${name} ${column}`)?.runs ?? [];
    const spent = runs.flatMap(({ cpuSeconds }) => (cpuSeconds === undefined ? [] : [cpuSeconds]));
    return spent.length === 0 ? null : median(spent);
  }

  /** Megabytes of XML in a second. */
  rate(name: string, column: string): number | null {
    const seconds = this.seconds(name, column);
    return seconds === null ? null : this.#results.get(`${name} ${column}`)!.bytes / 1e6 / seconds;
  }

  peakMegabytes(name: string): number | null {
    const peaks = [...this.#results.values()]
      .filter((result) => result.name === name)
      .flatMap(({ runs }) => runs.flatMap(({ peakBytes }) => (peakBytes === null ? [] : [peakBytes])));
    return peaks.length === 0 ? null : Math.max(...peaks) / 1e6;
  }

  names(): string[] {
    return [...new Set([...this.#results.values()].map(({ name }) => name))];
  }
}

export interface Goal {
  readonly what: string;
  readonly goal: string;
  /** in the goal's unit; null when not measured here */
  readonly value: number | null;
  readonly unit: '×' | 's' | 'MB';
  readonly met: (value: number) => boolean;
}

export interface Heading {
  /** rates of parsers are by processor time */
  readonly byCpu: boolean;
  readonly rounds: number;
  readonly megabytes: number;
  readonly columns: readonly string[];
  /** what ratios are taken against */
  readonly base: string;
}

export function renderProcessor(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}.`;
}

export function renderMachine({ rounds, megabytes, byCpu }: Heading): string {
  return `${renderProcessor().slice(0, -1)}; documents of ${megabytes} MB, medians of ${rounds} interleaved runs${byCpu ? ', by processor time where a contestant tells it' : ''}.`;
}

export function renderRates(
  results: Results,
  names: readonly string[],
  { columns, base }: Heading,
): string[] {
  const cells = (name: string): string[] =>
    columns.map((column) => {
      const rate = results.rate(name, column);
      if (rate === null) return '–';
      const reference = results.rate(base, column);
      const ratio = reference === null ? '' : ` (${significant(rate / reference)})`;
      return `${significant(rate)}${ratio}`;
    });
  const memory = (name: string): string => results.peakMegabytes(name)?.toFixed(0) ?? '–';
  const present = names.filter((name) => results.names().includes(name));
  if (present.length === 0) return [];
  return renderTable(
    [`MB/s of XML (× ${base})`, ...columns, 'peak MB'],
    present.map((name) => [name, ...cells(name), memory(name)]),
  );
}

export function renderGoals(goals: readonly Goal[]): string[] {
  return renderTable(
    ['what', 'goal', 'measured', 'met'],
    goals.map(({ what, goal, value, unit, met }) => {
      const measured = value === null ? 'not measured' : `${significant(value)} ${unit}`;
      return [what, goal, measured, value === null ? '–' : met(value) ? 'yes' : 'no'];
    }),
  );
}

export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((text, column) =>
    Math.max(text.length, ...rows.map((row) => row[column]!.length), 3),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}

export function significant(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
