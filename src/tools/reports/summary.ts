/** The summary that a tool prints at its end, as text and as JSON. */
import { statusLetters, type StatusLetter } from '../../service/jobs/record.ts';
import type { BrokenKey } from '../../ports/row-sink.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { Rejects } from '../load/findings.ts';
import {
  type ConversionDetails,
  nothingKept,
  type Conversion,
  type KeptContent,
  type SchemaChosen,
  type SummarisedWork,
} from './conversion-result.ts';
import type { JobProgress } from '../../ports/stores/jobs.ts';

export interface ToolSummary {
  readonly job: number | null;
  readonly origin: number | null;
  readonly logical: number | null;
  readonly schema_chosen: SchemaChosen | null;
  readonly status: StatusLetter;
  /** documents that were published, or read for statistics */
  readonly documents: number;
  /** documents that start with an element which the schema does not have are counted apart, as `unknown_root` */
  readonly rejected: number;
  readonly unknown_root: number;
  /** files and members of archives: documents, and those that were passed over; absent if no inputs are documents */
  readonly inputs?: { readonly read: number; readonly skipped: number };
  /** content that went to `_unmapped`: values, and documents that were kept whole */
  readonly unmapped: KeptContent;
  readonly rows: number;
  readonly tables: Readonly<Record<string, number>>;
  /** paths of the mapping, and paths found that it does not know; in a failed run, null means unknown */
  readonly xpaths: { readonly mapped: number | null; readonly new: number | null };
  readonly bytes: number | null;
  /** seconds of all steps except `start` */
  readonly seconds: number;
  readonly mb_per_s: number | null;
  /** natural keys that the target does not have, as values broke them; absent for none */
  readonly broken_keys?: readonly BrokenKey[];
  /** `--from`: rows that were read, and the start of the next load; absent without */
  readonly from?: RowsRead;
  /** `--skip-loaded`, `--keys hash`: documents that were not loaded, as the target or the load has the same ones; absent without */
  readonly left_out?: ConversionDetails['left_out'];
  /** `-S m`: documents by outcome; absent in other modes */
  readonly merged?: ConversionDetails['merged'];
  readonly steps: readonly StepTime[];
}

/** Counts of the rows of `--from`. */
interface RowsRead {
  readonly rows: number;
  readonly without_document: number;
  readonly loaded_before: number;
  /** `--after`: the highest value that the column has had */
  readonly after?: { readonly column: string; readonly mark: string };
}

/** The facts about a run that are known before it has ended. */
export interface RunSoFar {
  /** set by the reader of rows; null: there are none */
  from: RowsRead | null;
  /** counts of the inputs walked so far; null: the inputs are not open */
  inputs: InputSet['seen'] | null;
  readonly idJob: number;
  readonly origin: number | null;
  readonly chosen: SchemaChosen | null;
  /** paths that the chosen schema maps; null: none is chosen */
  readonly mapped: number | null;
  readonly steps: StepTimes;
}

/** Returns the summary of a completed run; before rows are committed, of the rows that it will have made. */
export function summaryOfWork(run: RunSoFar, work: SummarisedWork): ToolSummary {
  const { origin, logical, chosen, documents, rejected, unknownRoots, kept, tables, mapped, unknown, bytes } =
    work;
  const { broken_keys: broken, left_out: leftOut, merged } = work.details;
  const { seconds } = run.steps;
  return {
    job: run.idJob,
    origin,
    logical,
    schema_chosen: chosen,
    status: statusLetters.completed,
    documents,
    rejected,
    unknown_root: unknownRoots,
    ...inputsOf(run),
    unmapped: kept,
    rows: Object.values(tables).reduce((sum, rows) => sum + rows, 0),
    tables,
    xpaths: { mapped, new: unknown },
    bytes,
    seconds: Math.round(seconds * 1000) / 1000,
    mb_per_s: seconds > 0 ? Math.round(bytes / 1e4 / seconds) / 100 : 0,
    ...(run.from === null ? {} : { from: run.from }),
    ...(broken === undefined ? {} : { broken_keys: broken }),
    ...(leftOut === undefined ? {} : { left_out: leftOut }),
    ...(merged === undefined ? {} : { merged }),
    steps: run.steps.all,
  };
}

function inputsOf({ inputs }: RunSoFar): Pick<ToolSummary, 'inputs'> {
  if (inputs === null) return {};
  const { read, skipped } = inputs();
  return { inputs: { read, skipped } };
}

/** Returns the summary of a run that published nothing: unknown figures are null. */
export function summaryOfFailure(run: RunSoFar, status: 'failed' | 'killed', rejects: Rejects): ToolSummary {
  return {
    job: run.idJob,
    origin: run.origin,
    logical: run.chosen?.logical ?? null,
    schema_chosen: run.chosen,
    status: statusLetters[status],
    documents: 0,
    rejected: rejects.messages.length - rejects.unknownRoots,
    unknown_root: rejects.unknownRoots,
    ...inputsOf(run),
    unmapped: nothingKept,
    rows: 0,
    tables: {},
    xpaths: { mapped: run.mapped, new: null },
    bytes: null,
    seconds: Math.round(run.steps.seconds * 1000) / 1000,
    mb_per_s: null,
    steps: run.steps.all,
  };
}

/** `target`: name of the target in the log; null: none. `advice`: the last line, which says how to map the content of `_unmapped`. */
export function printSummary(
  summary: ToolSummary,
  does: Conversion['does'],
  target: string | null,
  advice?: string,
): string[] {
  const lines: string[] = [];
  const tables = Object.entries(summary.tables);
  if (tables.length > 0) {
    const width = Math.max(...tables.map(([name]) => name.length));
    lines.push('rows per table:');
    for (const [name, rows] of tables) lines.push(`  ${name.padEnd(width)}  ${grouped(rows)}`);
  }
  lines.push(
    `steps: ${summary.steps.map(({ name, seconds }) => `${name} ${seconds.toFixed(2)} s`).join(', ')}`,
  );
  const { documents, rejected } = summary;
  const paths = `paths: ${summary.xpaths.mapped} mapped, ${summary.xpaths.new} new`;
  lines.push(
    does === null ? `documents: ${documents} ok, ${rejected} rejected; ${paths}` : paths,
    `rows: ${grouped(summary.rows)}; ${((summary.bytes ?? 0) / 1e6).toFixed(2)} MB in ${summary.seconds.toFixed(2)} s, ${(summary.mb_per_s ?? 0).toFixed(1)} MB/s`,
    `origin ${summary.origin ?? '-'}, logical ${summary.logical ?? '-'}, job ${summary.job ?? '-'}: ${summary.status}`,
  );
  if (does !== null) lines.push(wordsOf(summary, does, target), documentLine(summary, does));
  if (advice !== undefined) lines.push(advice);
  return lines;
}

/** `6 documents loaded, 128 rows in 13 tables, 0.2 s; 3 values kept in _unmapped: see _unmapped in duckdb:out.duckdb` */
function wordsOf(summary: ToolSummary, does: 'loaded' | 'read', target: string | null): string {
  const { documents, rows, tables, seconds, unmapped, rejected, unknown_root: others } = summary;
  const left = rejected + others;
  const figures = [
    `${counted(documents, 'document')} ${does}`,
    ...(does === 'loaded'
      ? [`${counted(rows, 'row')} in ${counted(Object.keys(tables).length, 'table')}`]
      : []),
    `${seconds.toFixed(1)} s`,
  ];
  const parts = [
    figures.join(', '),
    ...(left > 0 ? [`${counted(left, 'document')} left out: the log says why`] : []),
    ...(unmapped.values + unmapped.documents > 0
      ? [
          `${keptOf(unmapped)} kept in _unmapped: see the table _unmapped${target === null ? '' : ` of ${target}`}`,
        ]
      : []),
  ];
  return parts.join('; ');
}

function keptOf({ values, documents }: KeptContent): string {
  const whole = documents === 0 ? '' : ` and ${counted(documents, 'whole document')}`;
  return `${counted(values, 'value')}${whole}`;
}

/** Returns the outcome of the documents, in one line. */
function documentLine(summary: ToolSummary, does: 'loaded' | 'read'): string {
  const { documents, unknown_root: unknownRoots, rejected, unmapped } = summary;
  const beside = does === 'loaded' ? `, ${keptOf(unmapped)} kept in _unmapped` : '';
  return `${does} ${grouped(documents)}, unknown root ${grouped(unknownRoots)}, rejected ${grouped(rejected)}${beside}`;
}

// Formats numbers with nouns.

/** `1,234 rows`, `1 row` */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Formats a number as 1,234,567. The platform's formatter would first load its data on every language, which takes longer than a small
 * document.
 */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

// Measures the time that a run spends on each step.

/** A step in the summary; the work of the tool's own process, including its threads. */
interface StepTime {
  readonly name: string;
  readonly seconds: number;
  /** user and system time */
  readonly cpu_seconds: number;
}

/** The age of this process, and the CPU time that it has used. */
export interface ProcessTime {
  readonly ms: number;
  readonly cpuMs: number;
}

/** Each step ends where the next begins; a step with the name of an earlier one adds to it. */
export class StepTimes {
  readonly #spent = new Map<string, { ms: number; cpuMs: number }>();
  #name = startStep;
  /** start of the current step */
  #since: ProcessTime;

  constructor(begun: ProcessTime = processStart) {
    this.#since = begun;
  }

  begin(name: string): void {
    this.#count();
    this.#name = name;
  }

  /** Returns the steps in their order, with the current one so far. */
  get all(): readonly StepTime[] {
    this.#count();
    return [...this.#spent].map(([name, { ms, cpuMs }]) => ({
      name,
      seconds: Math.round(ms) / 1000,
      cpu_seconds: Math.round(cpuMs) / 1000,
    }));
  }

  /** Seconds of all steps except the start. */
  get seconds(): number {
    this.#count();
    let ms = 0;
    for (const [name, spent] of this.#spent) if (name !== startStep) ms += spent.ms;
    return ms / 1000;
  }

  #count(): void {
    const now = processTime();
    const spent = this.#spent.get(this.#name) ?? { ms: 0, cpuMs: 0 };
    spent.ms += now.ms - this.#since.ms;
    spent.cpuMs += now.cpuMs - this.#since.cpuMs;
    this.#spent.set(this.#name, spent);
    this.#since = now;
  }
}

const startStep = 'start';
const processStart: ProcessTime = { ms: 0, cpuMs: 0 };

export function processTime(): ProcessTime {
  const { user, system } = process.cpuUsage();
  return { ms: performance.now(), cpuMs: (user + system) / 1000 };
}

// Reports of a run to its job record: those in quick succession are written together, as each write waits for a disk.

/** Longest delay of a run's record. */
const delayMs = 250;

interface JobReports {
  /** Adds progress, which is written soon, together with later progress until then. */
  add(progress: JobProgress): void;
  /** Resolves when the record holds all reported progress; throws the fault of any write since the last call. */
  flush(): Promise<void>;
}

export function createJobReports(write: (progress: JobProgress) => Promise<unknown>): JobReports {
  let pending: JobProgress | null = null;
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<unknown> = Promise.resolve();

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    if (pending === null) return;
    const progress = pending;
    pending = null;
    written = written.then(() => write(progress));
    // flush reports the fault
    written.catch(() => undefined);
  }

  return {
    add(progress) {
      pending = { ...pending, ...progress };
      timer ??= setTimeout(send, delayMs).unref();
    },
    async flush() {
      send();
      const all = written;
      written = Promise.resolve();
      await all;
    },
  };
}
