/**
 * Reads rows of targets in child processes: files and statements of organisations are never read inside the service, and a process that
 * exceeds its time or memory is ended with everything that it does.
 */
import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { launcher } from '../../installation.ts';
import { createLookProcesses, LookProcessEnd, type LookProcesses } from '../../process/look-processes.ts';
import { createTurns, type Turns } from '../../process/schema-compiler.ts';
import { fixedLimits } from '../../config/limits.ts';
import { AppError, errorCatalogue, type ErrorCode } from '../../errors.ts';
import type {
  PageSlice,
  ReadableTarget,
  RowAnswer,
  TargetReader,
  TypesOfTables,
} from '../../ports/target-reader.ts';
import type { OpenedInstallation } from '../open-installation.ts';
import type { ChildFault } from '../../process/child-requests.ts';
import { tooSlow } from '../../targets/rows/answers.ts';
import type { OpenPlace, ReadAnswer, ReadRequest, ReadSettings } from './read-requests.ts';

interface TargetReaderOptions {
  readonly processes: LookProcesses;
  readonly turns: Turns;
  readonly settings: ReadSettings;
  readonly metadb: {
    /** holds a password */
    readonly url: string;
    /** the server was started by this installation */
    readonly isLocal: boolean;
    /** see `OpenedDatabase` of src/runtime/open-installation.ts */
    loaderRole(idOrg: number, sqlSchema: string): Promise<string | null>;
  };
}

/** Opens the reader of a service. `close` ends its processes. */
export function openTargetReader({ config, home, databaseUrl, loaderRole }: OpenedInstallation): {
  readonly reader: TargetReader;
  /** Removes data that processes of a dead service left. */
  sweep(): Promise<void>;
  close(): Promise<void>;
} {
  const { lookMemoryBytes: memoryBytes } = config.limits;
  const scratch = join(home.directory, 'tmp');
  const processes = createLookProcesses({
    entry: [launcher, 'service/read'],
    workingDirectory: home.directory,
    memoryBytes,
    most: fixedLimits.queries,
    waitMs: fixedLimits.queryProcessMs,
    longestLineBytes: fixedLimits.answerRowBytes + 1024 ** 2,
  });
  const reader = createTargetReader({
    processes,
    turns: createTurns({
      slots: fixedLimits.queries,
      slotsOfOne: fixedLimits.queriesOfOne,
      maxWaiting: fixedLimits.waitingQueries,
      waitMs: fixedLimits.queryWaitMs,
      what: 'requests for rows',
    }),
    settings: { scratch, memoryBytes },
    metadb: { url: databaseUrl, isLocal: config.metadbUrl === null, loaderRole },
  });
  return { reader, sweep: () => removeOld(scratch), close: () => processes.close() };
}

const scratchPrefix = 'query-';
/** age after which any request is over */
const oldMs = 3_600_000;

async function removeOld(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => [] as string[]);
  for (const name of names.filter((one) => one.startsWith(scratchPrefix))) {
    const found = await stat(join(directory, name)).catch(() => null);
    if (found !== null && found.mtimeMs < Date.now() - oldMs)
      await rm(join(directory, name), { recursive: true, force: true });
  }
}

/** Time for the start of a process, and time in addition to that of the statement. */
const [startMs, extraMs] = [10_000, 2000];

function createTargetReader(options: TargetReaderOptions): TargetReader {
  const { processes, turns, settings, metadb } = options;

  async function placeOf(idOrg: number, target: ReadableTarget): Promise<OpenPlace> {
    const { label } = target;
    if (target.kind === 'folder') return { kind: 'folder', label, path: target.directory };
    if (target.kind !== 'metadb') return { kind: target.kind, label, path: target.file };
    const { sqlSchema } = target;
    const role = await metadb.loaderRole(idOrg, sqlSchema);
    if (role === null)
      throw new AppError(
        'unprocessable_input',
        `${label}: rows of the metadata database are read under a role of the organisation, and this database does not let the service make one: read them with a program of your own`,
      );
    return { kind: 'metadb', label, sqlSchema, role, url: metadb.url, isLocal: metadb.isLocal };
  }

  async function read(
    idOrg: number,
    target: ReadableTarget,
    wanted: Extract<ReadRequest, { what: 'read' }>['wanted'],
  ): Promise<{ readonly rows: RowAnswer; readonly total: number | null }> {
    const leave = await turns.take(idOrg);
    try {
      const place = await placeOf(idOrg, target);
      const process = await processes.take(idOrg);
      let isReady = false;
      let isLate = false;
      // ends the process if it has not answered
      const end = (): void => {
        isLate = true;
        process.release();
      };
      let timer = setTimeout(end, startMs);
      const scratch = join(settings.scratch, `${scratchPrefix}${randomBytes(8).toString('hex')}`);
      const ask = async (types: TypesOfTables | null): Promise<ReadAnswer> =>
        (await process.ask({
          what: 'read',
          place,
          settings: { ...settings, scratch },
          wanted,
          types,
        } satisfies ReadRequest)) as ReadAnswer;
      try {
        await process.ask({ what: 'ready' } satisfies ReadRequest);
        isReady = true;
        clearTimeout(timer);
        timer = setTimeout(end, fixedLimits.queryMs + extraMs);
        let answer = await ask(null);
        if ('needsTypes' in answer && target.kind === 'folder') {
          const { modelHashes, tables } = answer.needsTypes;
          answer = await ask(await target.typesOf(modelHashes, tables));
        }
        if (!('rows' in answer)) throw new Error('the process that reads rows requested types twice');
        return { rows: answer.rows as RowAnswer, total: answer.total };
      } catch (error) {
        throw isLate && isReady ? tooSlow() : faultOf(error);
      } finally {
        clearTimeout(timer);
        process.release();
        // a process that was ended left its data there
        await rm(scratch, { recursive: true, force: true });
      }
    } finally {
      leave();
    }
  }

  return {
    async rows(idOrg, target, slice: PageSlice) {
      const { rows, total } = await read(idOrg, target, { slice });
      const { columns, rows: content } = rows;
      return { columns, content, page: slice.page, size: slice.size, totalElements: total ?? 0 };
    },
    query: async (idOrg, target, sql) => (await read(idOrg, target, { sql })).rows,
  };
}

/** The error that the process reported, or the reason that it was ended for. */
function faultOf(error: unknown): Error {
  if (error instanceof LookProcessEnd)
    return error.limit === null
      ? new AppError('service_unavailable', 'the process that read the rows was ended: try again')
      : new AppError(
          'unprocessable_input',
          `the process that read the rows was ended: ${error.limit}. Read fewer rows or columns, or shorter values`,
        );
  if (error instanceof Error) return error;
  const { code, message, errors = [] } = error as ChildFault;
  return code !== null && Object.hasOwn(errorCatalogue, code)
    ? new AppError(code as ErrorCode, message, { errors })
    : new Error(message);
}
