/** The process that reads rows of a target. It serves one request at a time. */
import { mkdir } from 'node:fs/promises';
import { fixedLimits } from '../../config/limits.ts';
import { AppError } from '../../errors.ts';
import type { OpenedTarget, ReadRows, RowAnswer } from '../../ports/target-reader.ts';
import { serveRequests } from '../../process/child-requests.ts';
import { residentBytes } from '../../process/group.ts';
import { collectRows } from '../../targets/rows/answers.ts';
import type { OpenPlace, ReadAnswer, ReadRequest } from './read-requests.ts';

/** how long to wait for another process that has a file open */
const busyTimeoutMs = 3000;
/** how often a folder is read again if a job changed it meanwhile */
const maxTries = 3;
const watchEveryMs = 50;

type Read = Extract<ReadRequest, { what: 'read' }>;

/** The types of a folder of text files are not known yet. */
class TypesNeeded extends Error {
  readonly answer: ReadAnswer;

  constructor(modelHashes: readonly string[], tables: readonly string[]) {
    super('the types of tables are needed');
    this.answer = { needsTypes: { modelHashes, tables } };
  }
}

async function openTarget(request: Read, spill: string): Promise<OpenedTarget> {
  const { place, types, settings } = request;
  const { label } = place;
  if (place.kind === 'metadb') return openMetadb(place, settings.memoryBytes);
  const { path } = place;
  if (place.kind === 'duckdb') {
    const { openReadOnlyDuckDb } = await import('../../targets/sql/duckdb/read-only.ts');
    return openReadOnlyDuckDb(path, { label, spill, busyTimeoutMs });
  }
  if (place.kind === 'sqlite') {
    const { openReadOnlySqlite } = await import('../../targets/sql/sqlite/read-only.ts');
    return openReadOnlySqlite(path, { label, busyTimeoutMs });
  }
  const { diskLake } = await import('../../targets/files/lake/place.ts');
  const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
  if ((await lakeFormatOf(diskLake({ directory: path, refuseLinks: true }))) !== null) {
    const { openReadOnlyLake } = await import('../../targets/files/lake/read-only.ts');
    return openReadOnlyLake({ directory: path, label, spill });
  }
  const { openReadOnlyFolder } = await import('../../targets/files/folder/read-only.ts');
  return openReadOnlyFolder({
    directory: path,
    label,
    spill,
    typesOf: async (modelHashes, tables) => {
      if (types === null) throw new TypesNeeded(modelHashes, tables);
      return types;
    },
  });
}

/** The session's process on a server of this machine is interrupted at the limit of memory, which the server does not have. */
async function openMetadb(
  place: Extract<OpenPlace, { kind: 'metadb' }>,
  memoryBytes: number,
): Promise<OpenedTarget> {
  const { openReadOnlyPostgres } = await import('../../targets/sql/postgres/read-only.ts');
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const watch = (pid: number): void => {
    timer = setInterval(() => {
      void residentBytes(pid).then((bytes) => {
        if (bytes <= memoryBytes || isOver) return;
        isOver = true;
        interrupt(pid);
      });
    }, watchEveryMs);
  };
  const told = (error: unknown): unknown =>
    isOver
      ? new AppError(
          'unprocessable_input',
          `the statement needs more than the ${Math.round(memoryBytes / 1e6)} MB of svc.limits.look_memory: read fewer rows or columns, or shorter values`,
          { cause: error },
        )
      : error;
  const target = await openReadOnlyPostgres({ ...place, ...(place.isLocal ? { onSession: watch } : {}) });
  const rowsOf = <Rows extends ReadRows>(read: Rows): Rows => ({ ...read, rows: renamed(read.rows, told) });
  return {
    page: async (slice) =>
      rowsOf(
        await target.page(slice).catch((error: unknown) => {
          throw told(error);
        }),
      ),
    query: async (sql) =>
      rowsOf(
        await target.query(sql).catch((error: unknown) => {
          throw told(error);
        }),
      ),
    close: async () => {
      clearInterval(timer);
      await target.close();
    },
  };
}

async function* renamed<T>(rows: AsyncIterable<T>, told: (error: unknown) => unknown): AsyncGenerator<T> {
  try {
    yield* rows;
  } catch (error) {
    throw told(error);
  }
}

/** Cancels the statement of a session; its transaction and its process are not harmed. */
function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // the session has ended, or belongs to another user: its own time limit ends the statement
  }
}

async function read(request: Read): Promise<ReadAnswer> {
  const { wanted, settings } = request;
  const spill = settings.scratch;
  await mkdir(spill, { recursive: true, mode: 0o700 });
  try {
    for (let tries = 1; ; tries += 1) {
      const target = await openTarget(request, spill);
      try {
        const answer = await readOnce(target, wanted);
        if ((await target.isUnchanged?.()) ?? true) return answer;
      } catch (error) {
        if (((await target.isUnchanged?.()) ?? true) || tries === maxTries) throw error;
      } finally {
        await target.close();
      }
      if (tries === maxTries)
        throw new AppError(
          'service_unavailable',
          `${request.place.label}: the tables changed during each attempt to read them: try again later`,
        );
    }
  } catch (error) {
    if (error instanceof TypesNeeded) return error.answer;
    throw error;
  }
}

async function readOnce(target: OpenedTarget, wanted: Read['wanted']): Promise<ReadAnswer> {
  if ('sql' in wanted) {
    const rows: RowAnswer = await collectRows(await target.query(wanted.sql), fixedLimits.queryRows, false);
    return { rows, total: null };
  }
  const { total, ...page } = await target.page(wanted.slice);
  return { rows: await collectRows(page, wanted.slice.size, true), total };
}

void serveRequests<ReadRequest>(async (request) => (request.what === 'read' ? read(request) : null));
