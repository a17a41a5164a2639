/** The frame of every task on Spark: `node TASK WORK` makes an attempt at each unit that is requested. */
import { randomBytes } from 'node:crypto';
import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../../../storage/staging/durable-file.ts';
import { InputError } from '../../../engine/diagnostics.ts';
import { AppError } from '../../../errors.ts';
import { memberOfRange } from '../../../inputs/readable-ranges.ts';
import { documentTest } from '../../../inputs/document-names.ts';
import { openInputs } from '../../../inputs/list-files.ts';
import { fileElsewhere, walkFiles, type Walk } from '../../../inputs/walk-files.ts';
import { openDescribed, type RemotePlace } from '../../../inputs/remote/read-place.ts';
import { checksOf } from '../../session/remote-sources.ts';
import {
  commitAttempt,
  jobFile,
  readJson,
  readPlaces,
  unitFile,
  type SparkUnit,
  type UnitFailure,
  type UnitMember,
} from './work.ts';
import type { ReadingJob } from '../row-loader.ts';
import type { InputMember } from '../../../inputs/members.ts';
import { createInterface } from 'node:readline';

/** The answer of a unit's task. `failure` is the reason why no attempt can succeed because of the documents. */
export interface UnitAnswer {
  readonly failure?: UnitFailure;
}

/** The folders that an attempt works in. */
export interface Attempt {
  /** the job's folder */
  readonly work: string;
  readonly unit: number;
  /** the attempt's own */
  readonly folder: string;
}

/** Failures that may not happen on another executor. */
class ExecutorFault extends Error {}

/** Processes the documents of a unit; it may put files into the folder of the attempt. */
type UnitWork<Answer> = (unit: SparkUnit, attempt: Attempt) => Promise<Answer>;

/**
 * Makes attempts at the units of the work folder that the command line names, as they are requested, and then ends the process. The
 * result of `begin` serves all units of the job; the answer of that function becomes the `report.json` of a unit. A document at fault
 * is an answer too. Any other error fails the attempt, and Spark makes another, in another process.
 */
export function serveAttempts<Job extends ReadingJob, Answer extends UnitAnswer>(
  begin: (job: Job & PlacedJob) => UnitWork<Answer>,
  failed: (failure: UnitFailure) => Answer,
): void {
  const folder = process.argv[2]!;
  const begun = Promise.all([readJson<Job>(jobFile(folder)), openPlaces(folder)]).then(([job, places]) =>
    begin({ ...job, places }),
  );
  // the requester of a unit receives the error
  begun.catch(() => undefined);
  serveUnits(async (unit) => {
    const work = await begun;
    const documents = await readJson<SparkUnit>(unitFile(folder, unit));
    const attempt = join(folder, 'attempts', `${unit}-${randomBytes(8).toString('hex')}`);
    await mkdir(attempt, { mode: 0o700 });
    try {
      const report = await work(documents, { work: folder, unit, folder: attempt }).catch(
        (error: unknown) => {
          if (!(error instanceof InputError) && !(error instanceof AppError)) throw error;
          // the target may be there again for the next attempt
          if (error instanceof AppError && error.code === 'service_unavailable')
            throw new ExecutorFault(error.message);
          return failed(error instanceof InputError ? error.diagnostic : error.message);
        },
      );
      await writeNewFile(join(attempt, 'report.json'), JSON.stringify(report));
      await commitAttempt(folder, unit, attempt);
      return report.failure === undefined;
    } catch (error) {
      await rm(attempt, { recursive: true, force: true });
      throw error;
    }
  }, ExecutorFault);
}

/** A job as an executor knows it. */
export interface PlacedJob {
  /** places where documents of the job stay */
  readonly places: readonly RemotePlace[];
}

/** Hosts are looked up and checked here as the machine of the job would. */
async function openPlaces(folder: string): Promise<readonly RemotePlace[]> {
  const described = await readPlaces(folder);
  if (described === null) return [];
  const { places, allowedHosts, byHand } = described;
  const check = checksOf({ byHand, home: { config: { allowedHosts } } });
  const { signal } = new AbortController();
  return places.map((place) => openDescribed(place, { check, signal, scratch: join(folder, 'ssh') }));
}

/** Yields the members as the units list them: those of one file are consecutive, in the file's order. */
export async function* membersOf(
  job: Pick<ReadingJob, 'takesXsd' | 'archiveLimits' | 'links'> & PlacedJob,
  wanted: readonly UnitMember[],
): AsyncIterable<InputMember> {
  const { places } = job;
  const walk = { test: documentTest(job.takesXsd), limits: job.archiveLimits, links: job.links, places };
  for (let next = 0; next < wanted.length;) {
    const elsewhere = wanted.slice(next, endOf(wanted, next));
    if (elsewhere.length > 0) {
      next += elsewhere.length;
      yield* membersElsewhere(elsewhere, walk);
      continue;
    }
    const { file } = wanted[next]!;
    await requireFile(file);
    // the name chose them when the units were made
    const inputs = await openInputs([file], walk.test, walk.limits, walk.links);
    const before = next;
    for await (const member of inputs.members()) {
      const unit = wanted[next];
      if (unit?.file !== file) break;
      if (unit.member !== member.source.member) continue;
      const named = { ...member, name: unit.name, path: unit.path };
      yield unit.range === undefined ? named : memberOfRange(named, unit.range);
      next += 1;
    }
    // one that is named twice is opened again, and so is one that has lost a member: to no avail
    if (next === before)
      throw new AppError('unprocessable_input', `${file}: the file changed since the job began`);
  }
}

/** Returns the index after the last consecutive member from there on that is not a file of its own. */
function endOf(wanted: readonly UnitMember[], from: number): number {
  let end = from;
  while (wanted[end]?.elsewhere !== undefined) end += 1;
  return end;
}

async function* membersElsewhere(wanted: readonly UnitMember[], walk: Walk): AsyncIterable<InputMember> {
  const spools = new Set(wanted.flatMap(({ elsewhere }) => ('file' in elsewhere! ? [elsewhere.file] : [])));
  for (const file of spools) await requireFile(file);
  const files = wanted.map(({ path, name, elsewhere }) => fileElsewhere(path, name, elsewhere!));
  let at = 0;
  for await (const member of walkFiles(files, walk)) {
    const { name, path, range } = wanted[at]!;
    at += 1;
    const named = { ...member, name, path };
    yield range === undefined ? named : memberOfRange(named, range);
  }
}

async function requireFile(file: string): Promise<void> {
  await access(file).catch((error: NodeJS.ErrnoException) => {
    const what = 'the inputs must lie where all executors see them under the same path and may read them';
    throw new ExecutorFault(`${file}: ${error.code}: ${what}`);
  });
}

// Receives units from an executor, one after the other: a request is a line on stdin, the number of a unit, and the answer a line on
// stdout, JSON (scripts/spark/xml2er_engine.py). The process ends with its stdin, at once, whatever it does.

/** Number of units after which a process is replaced, because it may keep some state of each unit. */
const maxUnits = 500;
/** Containers have room for about as much beside Java, for each core. */
const maxBytes = 300 * 2 ** 20;

/** An answer to a request. */
interface UnitDone {
  readonly unit: number;
  /** no other unit is accepted: the process ends */
  readonly last: boolean;
}

/**
 * `attempt` returns whether another unit may follow in this process; there are never two at once. An error that it throws ends the
 * process, and is written to stderr: an Error of class `fault` as its message alone.
 */
function serveUnits(
  attempt: (unit: number) => Promise<boolean>,
  fault: new (...words: never[]) => Error,
): void {
  let units = 0;
  let isBusy = false;
  process.stdin.once('end', () => {
    if (isBusy) process.kill(process.pid, 'SIGKILL');
    process.exit(0);
  });
  const answer = async (unit: number): Promise<void> => {
    isBusy = true;
    units += 1;
    const stays = await attempt(unit);
    const last = !stays || units >= maxUnits || process.memoryUsage.rss() > maxBytes;
    isBusy = false;
    process.stdout.write(`${JSON.stringify({ unit, last } satisfies UnitDone)}\n`, () => {
      if (last) process.exit(0);
    });
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    answer(Number(line)).catch((error: unknown) => {
      process.stderr.write(error instanceof fault ? error.message : `${(error as Error).stack}\n`, () =>
        process.exit(1),
      );
    });
  });
}
