/** From the text of a target (`-o`) to the sink that takes its rows; the code of a sink is loaded when it is used. */
import { resolve } from 'node:path';
import { startThread } from '../../installation.ts';
import type { ColumnsThreadOptions } from '../../targets/files/folder/columns/beside.ts';
import type { FolderFormat } from '../../targets/files/folder/contents/formats.ts';
import type { ObjectFolderRowSinkOptions } from '../../targets/files/folder/object-store-sink.ts';
import type { LakeTarget } from '../../targets/files/lake/store/place.ts';
import { isLakeFormat, type LakeFormatName } from '../../targets/files/lake/table-format.ts';
import { AppError } from '../../errors.ts';
import { parseTarget } from '../../jobs/request/target.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import type { RowSink } from '../../ports/rows/sink.ts';
import type { BucketFolder } from './buckets.ts';
import { isRemote, localFolder } from '../session/remote-files.ts';
import { postgresLocation } from './postgres.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** how long a job waits for others that write into the same folder */
const lockTimeoutMs = 15 * 60_000;

export async function openSink(session: ToolSession): Promise<RowSink> {
  const { request } = session;
  // what documents are taken out of is asked like what they go into, whether it has the job
  const isRemoval = request.tool === 'unload';
  const target = parseTarget((isRemoval ? request.in : request.out)!);
  if ('fault' in target)
    throw new AppError('invalid_option', `${isRemoval ? '-i' : '-o'}: the target ${target.fault}`);
  if (request.format !== undefined && !['folder', 'bucket', 'iceberg'].includes(target.kind))
    session.log(`-f ${request.format} is for folders: it changes nothing here`);
  switch (target.kind) {
    case 'metadb':
    case 'postgresql': {
      const { createPostgresRowSink } = await import('../../targets/sql/postgres/sink.ts');
      const connection = await postgresLocation(session, target, 'load');
      if (target.kind === 'metadb' && connection.setRole === undefined)
        session.log(
          "the metadata database does not allow a role for the loads of this organisation: rows are written as the service's own database user",
        );
      return createPostgresRowSink({
        ...connection,
        createSchema: true,
        unitConnections: session.home.config.limits.targetConnections,
      });
    }
    case 'mysql': {
      const { mysqlLocation } = await import('./mysql.ts');
      const { createMysqlRowSink } = await import('../../targets/sql/mysql/sink.ts');
      return createMysqlRowSink(await mysqlLocation(session, target));
    }
    case 'folder': {
      const directory = session.byHand ? resolve(target.path) : await session.resolvePath(target.path, false);
      if (isRemote(directory)) {
        const { sharedFolder } = await import('./buckets.ts');
        const folder = await sharedFolder(session, directory);
        const lock = await metadbLock(session, directory);
        const files = session.home.adapters.files;
        return openInBucket(session, folder, { files, location: directory, label: target.path, lock });
      }
      const sink = await openLakeSink(session, async () => {
        const { diskLake } = await import('../../targets/files/lake/store/disk.ts');
        return diskLake({ directory, refuseLinks: !session.byHand });
      });
      if (sink !== null) return sink;
      const { createFolderRowSink } = await import('../../targets/files/folder/sink.ts');
      return createFolderRowSink({
        directory,
        format: folderFormat(request),
        refuseLinks: !session.byHand,
        columnsThread: columnsThreadOf(request),
        ...encodingsOf(request),
      });
    }
    case 'bucket': {
      const { openBucketFolder } = await import('./buckets.ts');
      const { createBucketFiles } = await import('../../adapters/object-store/bucket-files.ts');
      const { lockBucket, bucketLockName } = await import('../../targets/files/lake/store/bucket/lock.ts');
      const folder = await openBucketFolder(session, target, 'write');
      const { location, objects, prefix } = folder;
      const label = target.location;
      const lock = (): ReturnType<typeof lockBucket> =>
        lockBucket(objects, prefix + bucketLockName, lockTimeoutMs, label);
      return openInBucket(session, folder, {
        files: createBucketFiles(folder),
        location,
        label,
        lock,
      });
    }
    case 'iceberg': {
      if (request.format !== undefined && request.format !== 'iceberg')
        throw new AppError(
          'invalid_option',
          `-f ${request.format}: a catalogue of Iceberg tables has tables of Iceberg; leave -f out`,
        );
      const { openCatalogue } = await import('./catalogue.ts');
      return lakeSink(
        session,
        await openCatalogue(session, target, 'write', localFolder(session, 'out')),
        'iceberg',
      );
    }
    case 'duckdb':
    case 'sqlite': {
      const file = session.byHand ? resolve(target.file) : await session.resolvePath(target.file, false);
      if (isRemote(file))
        throw new AppError(
          'invalid_option',
          `-o ${target.kind}:FILE: needs a folder of the machine, not the shared store; a folder with -f parquet can be written there`,
        );
      const options = { file, refuseLinks: !session.byHand, signal: session.interrupted };
      if (target.kind === 'sqlite') {
        const { createSqliteRowSink } = await import('../../targets/sql/sqlite/driver.ts');
        return createSqliteRowSink(options);
      }
      const { createDuckDbRowSink } = await import('../../targets/sql/duckdb/driver.ts');
      return createDuckDbRowSink(options);
    }
  }
}

/** A folder of Delta or Iceberg tables; null where it is to be one of another kind. */
async function openLakeSink(session: ToolSession, open: () => Promise<LakeTarget>): Promise<RowSink | null> {
  const { format, tool } = session.request;
  if (tool === 'unload') {
    const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
    const target = await open();
    // of the tables that documents are taken out of
    return lakeSink(session, target, (await lakeFormatOf(target)) ?? 'delta');
  }
  return isLakeFormat(format) ? lakeSink(session, await open(), format) : null;
}

async function lakeSink(session: ToolSession, target: LakeTarget, format: LakeFormatName): Promise<RowSink> {
  if (session.request.views === true)
    session.log(
      '--views: Delta and Iceberg tables have no views here; conversion-job-service views NAME writes them for what reads the tables',
    );
  const { createLakeRowSink } = await import('../../targets/files/lake/sink.ts');
  return createLakeRowSink({ target, format, ...encodingsOf(session.request) });
}

function folderFormat({ format = 'csv' }: ToolRequest): FolderFormat {
  return format as FolderFormat;
}

/** In what words a target is told its tables (`-S p`): those of the database that makes them, or that reads the files best; without one, PostgreSQL's. */
export function ddlDialectOf({
  out,
  format,
}: Pick<ToolRequest, 'out' | 'format'>): 'duckdb' | 'mysql' | 'sqlite' | 'postgresql' {
  if (out === undefined) return 'postgresql';
  const target = parseTarget(out);
  if ('fault' in target) throw new AppError('invalid_option', `-o: the target ${target.fault}`);
  if (target.kind === 'sqlite' || target.kind === 'mysql') return target.kind;
  return target.kind === 'duckdb' ||
    target.kind === 'iceberg' ||
    ((target.kind === 'folder' || target.kind === 'bucket') &&
      format !== undefined &&
      !['csv', 'tsv', 'jsonl'].includes(format))
    ? 'duckdb'
    : 'postgresql';
}

/** What a folder of CSV, TSV, JSON Lines or Parquet in a bucket needs beside it. */
type FilesInBucket = Pick<ObjectFolderRowSinkOptions, 'files' | 'location' | 'label' | 'lock'>;

/** Threads of `--workers` hold as much as they do while rows come. */
function columnsThreadOf({ workers = 1 }: ToolRequest): ColumnsThreadOptions {
  return { startThread: (options) => startThread('tools/columns', options), isLate: workers > 1 };
}

/** Without `--parquet-version` each target has its own. */
function encodingsOf({ parquetVersion }: ToolRequest): { readonly deltas?: boolean } {
  return parquetVersion === undefined ? {} : { deltas: parquetVersion === 2 };
}

/** A folder of a store. */
async function openInBucket(
  session: ToolSession,
  folder: BucketFolder,
  inBucket: FilesInBucket,
): Promise<RowSink> {
  const scratch = localFolder(session, 'out');
  const sink = await openLakeSink(session, async () => {
    const { bucketLake } = await import('../../targets/files/lake/store/bucket/objects.ts');
    return bucketLake({ ...folder, label: inBucket.label, scratch });
  });
  if (sink !== null) return sink;
  const { createObjectFolderRowSink } = await import('../../targets/files/folder/object-store-sink.ts');
  const { jobMark } = await import('../../targets/files/folder/contents/file-names.ts');
  const { idJob, jobUuid, request } = session;
  return createObjectFolderRowSink({
    ...inBucket,
    address: folder.location,
    format: folderFormat(request),
    jobMark: jobMark(idJob, jobUuid),
    staging: scratch,
    columnsThread: columnsThreadOf(request),
    ...encodingsOf(request),
  });
}

/** The metadata database, which all machines have in common, holds the locks of the shared store. */
async function metadbLock(session: ToolSession, location: string): Promise<FilesInBucket['lock']> {
  const { takeAdvisoryLock } = await import('../../adapters/postgres/client/advisory-lock.ts');
  return () => takeAdvisoryLock(session.home.sql, `conversion-job-service ${location}`, lockTimeoutMs);
}
