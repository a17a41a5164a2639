/** Makes the next job of a watch: the content of its files is read once, and the job is stored with them in one transaction. */
import { credentialSecrets } from '../../files/credentials.ts';
import { AppError } from '../../errors.ts';
import { checkAccess } from '../../jobs/request/check-access.ts';
import { sealRequest } from '../../jobs/request/stored-request.ts';
import type { RequestItem } from '../../jobs/request/tool-request.ts';
import { newJob } from '../../jobs/new-job.ts';
import { accessError, checkOwners } from '../../jobs/submit.ts';
import type { CandidateFile, FileOutcome, WatchClaim } from '../../ports/stores/watches.ts';
import type { WatchedLocation } from '../../ports/watched-locations.ts';
import { isPlainName } from '../names.ts';
import { openPlace, withoutEmptyFolder } from '../place.ts';
import { watchRequest } from '../request.ts';
import { LookLimit } from './look-limit.ts';
import type { TurnOptions } from './options.ts';

/** A file with its SHA-256; null: it is gone. */
interface ReadFile extends CandidateFile {
  readonly sha256: string | null;
}

/** Why no job can be started. */
export interface FailedBatch {
  /** a sentence */
  readonly failure: string;
  /** it is not to be tried again before a person says so */
  readonly pauses: boolean;
}

/**
 * `started`; `nothing`: no settled file waits; `later`: the queue is full; `lost`: the claim is, or the watch was changed. `failure`:
 * why none can be started, in a sentence.
 */
export async function startNextJob(
  options: TurnOptions,
  claim: WatchClaim,
  signal: AbortSignal,
): Promise<'started' | 'nothing' | 'later' | 'lost' | FailedBatch> {
  const { schedule, locations, logger, adapters } = options;
  const { watch } = claim;
  let location: WatchedLocation | null = null;
  for (;;) {
    const candidates = await schedule.findCandidates(claim);
    if (candidates.length === 0) return 'nothing';
    try {
      location ??= await locations.open(await openPlace(adapters.secrets, claim), signal);
      const { files, others } = await readAll(location, candidates, signal);
      if (others.length > 0 && !(await schedule.recordFiles(claim, others))) return 'lost';
      if (files.length === 0) continue;
      const job = await jobOf(options, claim, files);
      const idJob = await schedule.startJob(claim, job, files);
      if (idJob === null) return 'lost';
      logger.info('job of a watch stored', { watch: watch.id_watch, job: idJob, files: files.length });
      return 'started';
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AppError) || error.code === 'internal_error') throw error;
      if (error.code === 'too_many_requests') return 'later';
      return { failure: error.message, pauses: error instanceof LookLimit && error.pauses };
    }
  }
}

/**
 * Reads files in the order of the candidates. If the time of the look ends, returns those read so far; throws `LookLimit` if not even
 * the first was.
 */
async function readAll(
  location: WatchedLocation,
  candidates: readonly CandidateFile[],
  signal: AbortSignal,
): Promise<{ readonly files: readonly ReadFile[]; readonly others: readonly FileOutcome[] }> {
  const read = new Map<number, ReadFile | FileOutcome>();
  const waiting = candidates.entries();
  let limit: LookLimit | null = null;
  const worker = async (): Promise<void> => {
    for (const [at, file] of waiting) {
      signal.throwIfAborted();
      try {
        read.set(at, await readOne(location, file));
      } catch (error) {
        if (!(error instanceof LookLimit)) throw error;
        limit ??= error;
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const unread = candidates.findIndex((_, at) => !read.has(at));
  if (limit !== null && unread === 0) throw limit as LookLimit;
  const done = candidates.slice(0, unread < 0 ? undefined : unread).map((_, at) => read.get(at)!);
  return {
    files: done.filter((one): one is ReadFile => !('status' in one)),
    others: done.filter((one): one is FileOutcome => 'status' in one),
  };
}

/** files that are read at the same time: of small ones elsewhere, most time is that of the way there and back */
const atOnce = 16;

async function readOne(location: WatchedLocation, file: CandidateFile): Promise<ReadFile | FileOutcome> {
  const { idFile, name, version, loadedSha256, loadedBy } = file;
  const outcome = (status: FileOutcome['status'], reason: string | null): FileOutcome => ({
    idFile,
    status,
    reason,
  });
  if (!isPlainName(name)) return outcome('rejected', 'no file can have that name; give it another');
  const read = await location.digest(file).catch((error: unknown) => {
    // the fault concerns one file only; otherwise the place itself may be out of reach
    if (error instanceof AppError && error.code !== 'service_unavailable' && error.code !== 'internal_error')
      return error;
    throw error;
  });
  if (read instanceof AppError) return outcome('rejected', read.message);
  if (file.removes) return read === null ? { ...file, sha256: null } : outcome('loaded', null);
  if (read === null) return outcome('ignored', 'it was gone before it could be loaded');
  if (read.object.version !== version) return { ...outcome('waiting', null), met: read.object };
  if (read.sha256 !== loadedSha256) return { ...file, sha256: read.sha256 };
  const reason = `its content is what job ${loadedBy ?? '?'} has loaded under that name`;
  return { ...outcome('ignored', reason), sha256: read.sha256 };
}

async function jobOf(
  { adapters, settings }: TurnOptions,
  claim: WatchClaim,
  files: readonly ReadFile[],
): Promise<ReturnType<typeof newJob>> {
  const { watch, idOrg } = claim;
  const { kept } = await openPlace(adapters.secrets, claim);
  const there = files.filter(({ removes }) => !removes);
  const gone = files.filter(({ removes }) => removes).map(({ name }) => name);
  const request = watchRequest(
    { ...kept, onError: watch.on_error, credential: watch.credential },
    schemaItems(claim, kept.options),
    {
      files: there.map(({ name, version, bytes, changedMs: modified }) => ({
        name,
        version,
        bytes,
        modified,
      })),
      ...(gone.length === 0 ? {} : { gone: [...new Set(gone)] }),
      watch: watch.id_watch,
    },
  );
  const all = await checkAccess(adapters, settings, idOrg, request, ['/location'], () => '', new Set());
  const faults = withoutEmptyFolder(adapters.files, kept.location, all);
  if (faults.length > 0) throw accessError(faults);
  await checkOwners(adapters.catalog, idOrg, [request]);
  return newJob(
    request,
    await sealRequest(request, adapters.secrets),
    settings.spark.conf,
    await credentialSecrets(adapters, settings.sources, idOrg, request.credential),
  );
}

/** Returns the options for the origin with which documents are read, and for content that it does not know. */
function schemaItems(
  { watch, usedSch }: WatchClaim,
  options: Readonly<Record<string, unknown>>,
): readonly RequestItem[] {
  const byXsd = hasFlag(options, '--xsd');
  const namesLogical = hasFlag(options, '-l', '--logical');
  const uses = byXsd || namesLogical ? null : usedSch;
  // a logical schema that is named stays as it is
  const onDrift = namesLogical && watch.on_drift === 'evolve' ? 'keep' : watch.on_drift;
  return [
    ...(uses === null ? [] : [item('-x', uses)]),
    { pointer: '/on_drift', flag: '--on-drift', value: onDrift },
  ];
}

function item(flag: string, id: number): RequestItem {
  return { pointer: '/id_sch', flag, value: String(id) };
}

function hasFlag(options: Readonly<Record<string, unknown>>, ...flags: readonly string[]): boolean {
  return flags.some((flag) => Object.hasOwn(options, flag));
}
