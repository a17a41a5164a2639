/** Cycles of one fault each, out of all kinds of faults, while two installations load all kinds of targets. */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isOutage } from '../../../src/errors.ts';
import { createDice } from '../../../test/contracts/merge/orders.ts';
import { execution, terminalStatuses } from '../../../test/support/service/client.ts';
import { submit } from '../cycles.ts';
import { countDocuments } from './census.ts';
import { mixFaults, noVictim, type Choose, type MixFault } from './faults.ts';
import { contentShapes, findLeftovers, orphanedProcesses } from './leftovers.ts';
import { openMixScene, type MixScene } from './scene.ts';
import { makeTargets, type MixTarget } from './targets.ts';

export interface MixOptions {
  readonly cycles: number;
  readonly seed: number;
  /** part of the names of the faults; empty: all */
  readonly fault: string;
  /** an empty folder, below which everything is */
  readonly folder: string;
  /** Ends the run after the cycle that runs. */
  readonly isOver?: () => boolean;
  readonly tell: (line: string) => void;
}

/** Of all cycles of one fault. */
export interface FaultCounts {
  readonly fault: string;
  cycles: number;
  /** cycles in which the process that the fault ends or stalls did not run */
  missed: number;
  documents: number;
  /** jobs that ended, but did not complete */
  failedJobs: number;
  lost: number;
  doubled: number;
  /** jobs that had not ended, and services that did not answer, after `patienceMs` */
  stuck: number;
  leftovers: number;
  /** from the end of each fault until the last job of its cycle has ended, and both services answer */
  readonly recoveriesMs: number[];
}

export interface MixReport {
  readonly counts: readonly FaultCounts[];
  /** faults that the machine does not allow, each with the reason */
  readonly skipped: readonly string[];
  /** the error that ended the run before its last cycle, or null */
  readonly error: unknown;
}

const patienceMs = 180_000;
/** targets are made anew after so many cycles */
const batch = 10;
/** jobs of a cycle beside one for each target */
const moreJobs = 4;

interface Job {
  readonly idJob: number;
  readonly target: MixTarget;
  /** null: has not ended */
  record: JobEnd | null;
}

interface JobEnd {
  readonly status: string;
  readonly attempt: number;
  readonly failure: string | null;
}

/** Runs the cycles in so many scenes at a time, with seeds that follow each other, and sums their reports. Each scene has servers and homes of its own. */
export async function runMixes(options: MixOptions, parts: number): Promise<MixReport> {
  const reports = await Promise.all(
    Array.from({ length: parts }, async (_, part) => {
      const folder = join(options.folder, `part-${part + 1}`);
      await mkdir(folder);
      return runMix({
        ...options,
        folder,
        seed: options.seed + part,
        cycles: Math.floor((options.cycles + part) / parts),
        tell: (line) => options.tell(parts === 1 ? line : `${part + 1}/${line}`),
      });
    }),
  );
  return sumOf(reports);
}

/** The counts of each fault in all reports together. */
export function sumOf(reports: readonly MixReport[]): MixReport {
  const sums = new Map<string, FaultCounts>();
  for (const one of reports.flatMap(({ counts }) => counts)) {
    const sum = sums.get(one.fault) ?? noCounts(one.fault);
    sums.set(one.fault, sum);
    addTo(sum, one);
  }
  return {
    counts: [...sums.values()],
    skipped: [...new Set(reports.flatMap(({ skipped }) => skipped))],
    error: reports.find(({ error }) => error !== null)?.error ?? null,
  };
}

function addTo(sum: FaultCounts, one: FaultCounts): void {
  for (const name of summed) sum[name] += one[name];
  sum.recoveriesMs.push(...one.recoveriesMs);
}

const summed = [
  'cycles',
  'missed',
  'documents',
  'failedJobs',
  'lost',
  'doubled',
  'stuck',
  'leftovers',
] as const;

export async function runMix(options: MixOptions): Promise<MixReport> {
  const { cycles, seed, tell } = options;
  const scene = await openMixScene(options.folder);
  try {
    const wanted = mixFaults.filter(({ name }) => name.includes(options.fault));
    const skipped = wanted.flatMap(({ name, lacks }) => {
      const why = lacks?.(scene) ?? null;
      return why === null ? [] : [`${name}: ${why}`];
    });
    const faults = wanted.filter(({ lacks }) => (lacks?.(scene) ?? null) === null);
    if (faults.length === 0) return { counts: [], skipped, error: null };
    const counts = new Map(faults.map((fault) => [fault, noCounts(fault.name)]));
    const deck = createDeck(faults, seed);
    const quiet = noCounts('no fault');
    const error = await (async () => {
      const series = await Series.open(scene, tell);
      for (let number = 1; number <= cycles && !(options.isOver?.() ?? false); number += 1) {
        if (number % batch === 1) await series.renew(quiet);
        const fault = deck();
        await series.cycle(number, fault, counts.get(fault)!, chooser(seed, number));
      }
      await series.end(quiet);
      return null;
    })().catch((reason: unknown) => reason);
    return { counts: [quiet, ...counts.values()].filter((one) => one.cycles > 0), skipped, error };
  } finally {
    await scene.close();
  }
}

/** The cycles on one scene: what they loaded, and what has been counted already. */
class Series {
  readonly #scene: MixScene;
  readonly #tell: (line: string) => void;
  readonly #usual: ReadonlySet<string>;
  readonly #counted = new Set<string>();
  #usualMs = 0;
  #batches = 0;
  #targets: readonly MixTarget[] = [];
  #jobs: Job[] = [];
  /** of the last cycle */
  #leftovers: ReadonlySet<string> = new Set();
  #last: FaultCounts | null = null;

  private constructor(scene: MixScene, tell: (line: string) => void, usual: ReadonlySet<string>) {
    this.#scene = scene;
    this.#tell = tell;
    this.#usual = usual;
  }

  /** Two cycles without a fault show how long jobs take, and what they leave. */
  static async open(scene: MixScene, tell: (line: string) => void): Promise<Series> {
    const usual = new Set<string>();
    const series = new Series(scene, tell, usual);
    await series.#makeTargets();
    for (let round = 0; round < 2; round += 1) {
      const started = performance.now();
      await series.#load(chooser(0, round), 0);
      const left = await series.#waitForJobs(performance.now() + patienceMs);
      const failed = series.#jobs.find(({ record }) => record?.status !== 'C');
      if (left > 0 || failed !== undefined)
        throw new Error(`a load without a fault ended ${failed?.record?.status}: ${failed?.record?.failure}`);
      series.#usualMs = performance.now() - started;
      for (const shape of await contentShapes(scene, series.#targets)) usual.add(shape);
    }
    tell(`${series.#jobs.length / 2} jobs without a fault: ${Math.round(series.#usualMs)} ms`);
    return series;
  }

  /** New targets. A cycle without a fault comes before, so that leftovers of the last one have had their chance to be removed. */
  async renew(quiet: FaultCounts): Promise<void> {
    if (this.#last !== null) await this.cycle(0, null, quiet, chooser(0, this.#batches));
    for (const target of this.#targets) await target.remove();
    await this.#makeTargets();
    this.#jobs = [];
    this.#leftovers = new Set();
    this.#last = null;
  }

  async end(quiet: FaultCounts): Promise<void> {
    await this.cycle(0, null, quiet, chooser(0, this.#batches));
  }

  async cycle(number: number, fault: MixFault | null, counts: FaultCounts, choose: Choose): Promise<void> {
    const before = this.#jobs.length;
    const delayMs = choose(tenths)! * this.#usualMs;
    const strike = async (): Promise<string> => {
      if (fault === null) return '';
      await delay(delayMs);
      return fault.strike(this.#scene, choose);
    };
    const loading = this.#load(choose, this.#usualMs);
    const done = await strike();
    const healed = performance.now();
    const until = healed + patienceMs;
    let jobsMs = 0;
    const recovered = Promise.all([
      loading.then(() => this.#waitForJobs(until)).finally(() => (jobsMs = performance.now() - healed)),
      this.#waitForServices(until),
    ]);
    const [stuckJobs, silentServices] = await this.#mendUntil(recovered);
    const recoveryMs = performance.now() - healed;
    const jobs = this.#jobs.slice(before);
    counts.cycles += 1;
    if (done === noVictim) counts.missed += 1;
    counts.documents += jobs.length * this.#scene.documents.size;
    counts.failedJobs += jobs.filter(({ record }) => record !== null && record.status !== 'C').length;
    counts.stuck += stuckJobs + silentServices;
    counts.recoveriesMs.push(recoveryMs);
    const findings: string[] = [];
    const countNew = (all: Iterable<string>, what: string): number => {
      const fresh = [...all].filter((one) => !this.#counted.has(one));
      for (const one of fresh) {
        this.#counted.add(one);
        findings.push(`${what} ${one}`);
      }
      return fresh.length;
    };
    for (const target of this.#targets) {
      const own = this.#jobs.filter((job) => job.target === target);
      const { lost, doubled } = await countDocuments(
        target,
        this.#scene.documents,
        own.map(({ idJob, record }) => ({ idJob, status: record?.status ?? null })),
      );
      counts.lost += countNew(lost, 'LOST');
      counts.doubled += countNew(doubled, 'DOUBLED');
    }
    const processes = await orphanedProcesses(this.#scene.installations);
    counts.leftovers += countNew(processes.map(String), 'LEFT process');
    const leftovers = await findLeftovers(this.#scene, this.#targets, this.#usual);
    if (this.#last !== null)
      this.#last.leftovers += countNew(
        [...leftovers].filter((one) => this.#leftovers.has(one)),
        'LEFT',
      );
    this.#leftovers = leftovers;
    this.#last = counts;
    const ends = jobs.map(({ record }) => (record === null ? '?' : `${record.status}${record.attempt}`));
    const reasons = new Set(
      jobs.flatMap(({ record }) => (record?.status === 'C' ? [] : [record?.failure ?? 'STUCK'])),
    );
    this.#tell(
      [
        `${number === 0 ? '-' : number}: ${counts.fault}${done === '' ? '' : ` (${done})`}: ${ends.join(' ')}, jobs ${inSeconds(jobsMs)}, all ${inSeconds(recoveryMs)}`,
        ...[...reasons].map((reason) => `    ${reason}`),
        ...findings.map((finding) => `    ${finding}`),
      ].join('\n'),
    );
  }

  async #makeTargets(): Promise<void> {
    this.#batches += 1;
    this.#targets = await makeTargets(this.#scene.places, `batch_${this.#batches}`);
  }

  /** Submits a job for each target and some more within this time, each to one of the installations. */
  async #load(choose: Choose, withinMs: number): Promise<void> {
    const { installations, input, origin } = this.#scene;
    const more = Array.from({ length: moreJobs }, () => choose(this.#targets)!);
    const planned = [...this.#targets, ...more].map((target) => ({
      target,
      installation: choose(installations)!,
      delayMs: choose(tenths)! * withinMs,
    }));
    await Promise.all(
      planned.map(async ({ target, installation, delayMs }) => {
        await delay(delayMs);
        const body = JSON.stringify({
          executions: [execution('xml2er', input, target.options, String(origin))],
        });
        const [idJob] = await submit(installation, randomUUID(), body);
        this.#jobs.push({ idJob: idJob!, target, record: null });
      }),
    );
  }

  /** Returns how many jobs have not ended by then. The database itself is asked, whatever the services are able to do. */
  async #waitForJobs(until: number): Promise<number> {
    for (;;) {
      const open = new Map(
        this.#jobs.filter(({ record }) => record === null).map((job) => [job.idJob, job] as const),
      );
      const { sql } = this.#scene.places;
      const records = await sql<(JobEnd & { readonly id: number })[]>`
        select id_job::int as id, status, attempts::int as attempt, failure from svc.job
         where id_job in ${sql([0, ...open.keys()])} and status in ${sql(terminalStatuses)}`.catch(
        (error: unknown) => {
          if (!isOutage(error)) throw error;
          return [];
        },
      );
      for (const { id, ...record } of records) open.get(id)!.record = record;
      const left = open.size - records.length;
      if (left === 0 || performance.now() > until) return left;
      await delay(200);
    }
  }

  /** Returns how many services do not answer by then. */
  async #waitForServices(until: number): Promise<number> {
    const answers = this.#scene.installations.map(async (installation) => {
      while (performance.now() < until)
        try {
          await installation.service().client.get('/v2/executions/get/1');
          return true;
        } catch {
          await delay(50);
        }
      return false;
    });
    return (await Promise.all(answers)).filter((answered) => !answered).length;
  }

  /** Starts the processes that ended, until the work is done. */
  async #mendUntil<T>(work: Promise<T>): Promise<T> {
    const done = new AbortController();
    const ended = work.finally(() => done.abort());
    ended.catch(() => undefined);
    while (!done.signal.aborted) {
      for (const installation of this.#scene.installations) await installation.mend();
      await Promise.race([ended, delay(500)]);
    }
    return ended;
  }
}

const tenths: readonly number[] = Array.from({ length: 11 }, (_, at) => at / 10);

function chooser(seed: number, number: number): Choose {
  const dice = createDice(1 + ((seed * 1009 + number * 7919) % 2_147_483_646));
  // the first values of neighbouring seeds are alike
  for (let round = 0; round < 5; round += 1) dice(2);
  return (all) => all[dice(all.length)];
}

/** Deals all faults in an order that follows from the seed, then all again in another order. */
function createDeck(faults: readonly MixFault[], seed: number): () => MixFault {
  const choose = chooser(seed, 0);
  let deck: MixFault[] = [];
  return () => {
    if (deck.length === 0) deck = [...faults];
    const fault = choose(deck)!;
    deck = deck.filter((one) => one !== fault);
    return fault;
  };
}

const noCounts = (fault: string): FaultCounts => ({
  fault,
  cycles: 0,
  missed: 0,
  documents: 0,
  failedJobs: 0,
  lost: 0,
  doubled: 0,
  stuck: 0,
  leftovers: 0,
  recoveriesMs: [],
});

/** Whether all cycles ran, no document was lost or doubled, and no job stuck. */
export const isSound = ({ counts, error }: MixReport): boolean =>
  error === null && counts.every(({ lost, doubled, stuck }) => lost + doubled + stuck === 0);

/** The table of a report, in Markdown, with a last row for all faults together. */
export function tableOf({ counts }: MixReport): string {
  const all = noCounts('all');
  for (const one of counts) addTo(all, one);
  const heads = [
    'fault',
    'cycles',
    'no victim',
    'documents',
    'failed jobs',
    'lost',
    'doubled',
    'stuck',
    'leftovers',
    'recovery, p50',
    'p95',
    'max',
  ];
  const rows = [...counts, all].map((one) => [
    one.fault,
    ...summed.map((name) => String(one[name])),
    secondsOf(one.recoveriesMs, 0.5),
    secondsOf(one.recoveriesMs, 0.95),
    secondsOf(one.recoveriesMs, 1),
  ]);
  const widths = heads.map((head, at) => Math.max(head.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join(' | ')} |`;
  const rule = widths.map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function secondsOf(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return inSeconds(sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!);
}
