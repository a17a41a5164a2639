/**
 * Targets that are a folder, of this machine or the shared store, or in a bucket. A folder has files of one format, or Delta or Iceberg
 * tables.
 */
import { AppError } from '../../errors.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { RowRemover, RowSink } from '../../ports/row-sink.ts';
import type { RowSource } from '../../ports/row-source.ts';
import type { LakeTarget } from '../../targets/files/lake/place.ts';
import type { LakeFormatName } from '../../targets/files/lake/table-format.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { resolve } from 'node:path';
import { startThread } from '../../installation.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import {
  defaultLayout,
  fileLayoutTitles,
  isFileLayout,
  isTableLayout,
  layoutFacts,
  type FileLayoutName,
} from '../../ports/layouts.ts';
import type { ColumnsThreadOptions } from '../../targets/files/parquet/beside.ts';
import type { ObjectFolderRowSinkOptions } from '../../targets/files/folder/sink.ts';
import { isRemote, localCopies, localFolder } from '../session/remote-sources.ts';
import type { BucketFolder } from '../../ports/files.ts';
import { openBucketFolder } from './buckets.ts';
import type { KindOfTarget } from './kind.ts';

// Delta and Iceberg tables.

export async function lakeSink(
  session: ToolSession,
  target: LakeTarget,
  format: LakeFormatName,
): Promise<RowSink> {
  if (session.request.views === true)
    session.log(
      '--views: Delta and Iceberg tables have no views; conversion-job-service views NAME writes views for the program that reads the tables',
    );
  const { createLakeRowSink } = await import('../../targets/files/lake/sink.ts');
  return createLakeRowSink({ target, format, ...encodingsOf(session.request) });
}

export async function lakeSource({ request }: ToolSession, target: LakeTarget): Promise<RowSource> {
  const { createLakeRowSource } = await import('../../targets/files/lake/source.ts');
  const { version } = request;
  return createLakeRowSource({ target, ...(version === undefined ? {} : { version }) });
}

export async function lakeRemover(target: LakeTarget): Promise<RowRemover> {
  const { createLakeRowRemover } = await import('../../targets/files/lake/remover.ts');
  return createLakeRowRemover(target);
}

/** Returns the encodings; without `--parquet-version` each target has its own. */
function encodingsOf({ parquetVersion }: ToolRequest): { readonly deltas?: boolean } {
  return parquetVersion === undefined ? {} : { deltas: parquetVersion === 2 };
}

export function noVersions(): AppError {
  return new AppError(
    'invalid_option',
    '--version: only Delta and Iceberg tables have earlier versions (-f delta, -f iceberg, iceberg:https://…); omit it',
  );
}

// Folders of both kinds.

/** time for which a job waits for others that write into the same folder */
const lockTimeoutMs = 15 * 60_000;

type FolderTarget = Extract<Target, { kind: 'folder' }>;
type BucketTarget = Extract<Target, { kind: 'bucket' }>;

const files = {
  hasFormats: true,
  hasVersions: true,
  ddlDialect: (format) => layoutFacts(format ?? defaultLayout).dialect,
  async openSource(session, target) {
    const { lake, localDirectory } = await openFolder(session, target, 'read');
    const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
    if ((await lakeFormatOf(lake)) !== null) return lakeSource(session, lake);
    if (session.request.version !== undefined) throw noVersions();
    const { createFolderRowSource } = await import('../../targets/files/folder/source.ts');
    return createFolderRowSource({ directory: await localDirectory(), refuseLinks: !session.byHand });
  },
  async openRemover(session, target) {
    const { lake } = await openFolder(session, target, 'write');
    const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
    if ((await lakeFormatOf(lake)) !== null) return lakeRemover(lake);
    throw new AppError(
      'invalid_option',
      `-i: unload removes documents from postgresql://, mysql://, metadb:, sqlite: and duckdb: targets, and from Delta and Iceberg tables (folders, s3://, iceberg:https://…). To remove them from a folder of files (${fileLayoutTitles.join(', ')}), load the others again with -S o.`,
    );
  },
} satisfies Partial<KindOfTarget<FolderTarget | BucketTarget>>;

export const folderKind: KindOfTarget<FolderTarget> = {
  ...files,
  async openSink(session, { path }) {
    const directory = session.byHand ? resolve(path) : await session.resolvePath(path, false);
    if (isRemote(directory)) {
      const { takeAdvisoryLock } = await import('../../postgres/connect.ts');
      // all machines have the metadata database in common
      return openInBucket(session, session.home.folderAt(directory), path, () =>
        takeAdvisoryLock(session.home.sql, `conversion-job-service ${directory}`, lockTimeoutMs),
      );
    }
    const place = { directory, refuseLinks: !session.byHand };
    const sink = await openLakeSink(session, async () => {
      const { diskLake } = await import('../../targets/files/lake/place.ts');
      return diskLake(place);
    });
    if (sink !== null) return sink;
    const { createFolderRowSink } = await import('../../targets/files/folder/sink.ts');
    return createFolderRowSink({
      ...place,
      format: folderFormat(session.request),
      columnsThread: columnsThreadOf(session.request),
      ...encodingsOf(session.request),
    });
  },
  whatWasRun: [
    {
      target: 'folders and buckets of files',
      driver: 'our own',
      transaction: 'the manifest, which is one file',
      run_against: 'disks, moto, Azurite; read by psql, DuckDB, SQLite, MariaDB, pandas, openpyxl',
    },
    {
      target: 'Delta, Iceberg',
      driver: 'our own, `avsc` 5.7.9',
      transaction: 'one for each table, `_loads` last',
      run_against:
        'disks, moto, versitygw, Azurite; read by delta-rs, PyIceberg, DuckDB, Spark ([Delta](../how-to/delta.md), [Iceberg](../how-to/iceberg.md))',
    },
  ],
};

export const bucketKind: KindOfTarget<BucketTarget> = {
  ...files,
  async openSink(session, target) {
    const { lockBucket, bucketLockName } = await import('../../targets/files/place/bucket.ts');
    const folder = await openBucketFolder(session, target, 'write');
    const { objects, prefix } = folder;
    const label = target.location;
    return openInBucket(session, folder, label, () =>
      lockBucket(objects, prefix + bucketLockName, lockTimeoutMs, label),
    );
  },
  whatWasRun: [],
};

/** A folder of a store. `lock`: of folders of files; tables have their own. */
async function openInBucket(
  session: ToolSession,
  folder: BucketFolder,
  label: string,
  lock: ObjectFolderRowSinkOptions['lock'],
): Promise<RowSink> {
  const scratch = localFolder(session, 'out');
  const sink = await openLakeSink(session, async () => {
    const { bucketLake } = await import('../../targets/files/lake/bucket.ts');
    return bucketLake({ ...folder, label, scratch });
  });
  if (sink !== null) return sink;
  const { createObjectFolderRowSink } = await import('../../targets/files/folder/sink.ts');
  const { jobMark } = await import('../../targets/files/folder/place.ts');
  const { idJob, jobUuid, request } = session;
  return createObjectFolderRowSink({
    ...folder,
    label,
    lock,
    scratch,
    format: folderFormat(request),
    jobMark: jobMark(idJob, jobUuid),
    columnsThread: columnsThreadOf(request),
    ...encodingsOf(request),
  });
}

/** Opens a folder of Delta or Iceberg tables; returns null if it must be of another kind. */
async function openLakeSink(session: ToolSession, open: () => Promise<LakeTarget>): Promise<RowSink | null> {
  const { format, tool } = session.request;
  if (tool === 'unload') {
    const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
    const target = await open();
    // the format of the tables that documents are removed from
    return lakeSink(session, target, (await lakeFormatOf(target)) ?? 'delta');
  }
  return isTableLayout(format) ? lakeSink(session, await open(), format) : null;
}

interface OpenedFolder {
  /** the folder as Delta or Iceberg tables */
  readonly lake: LakeTarget;
  /** its path on this machine: the folder itself, or a copy of its content */
  localDirectory(): Promise<string>;
}

async function openFolder(
  session: ToolSession,
  target: FolderTarget | BucketTarget,
  use: 'read' | 'write',
): Promise<OpenedFolder> {
  const inBucket = async (folder: BucketFolder, label: string): Promise<LakeTarget> => {
    const { bucketLake } = await import('../../targets/files/lake/bucket.ts');
    return bucketLake({ ...folder, label, scratch: localFolder(session, 'tables') });
  };
  if (target.kind === 'bucket') {
    const folder = await openBucketFolder(session, target, use);
    const { createBucketFiles } = await import('../../storage/object-store/file-store.ts');
    const { fetchFiles } = await import('../../storage/local/file-store.ts');
    return {
      lake: await inBucket(folder, target.location),
      localDirectory: () =>
        fetchFiles(createBucketFiles(folder), folder.location, localFolder(session, 'in/0')),
    };
  }
  const directory = session.byHand
    ? resolve(target.path)
    : await session.resolvePath(target.path, use === 'read');
  if (isRemote(directory))
    return {
      lake: await inBucket(session.home.folderAt(directory), target.path),
      localDirectory: async () => (await localCopies(session, [directory]))[0]!,
    };
  const { diskLake } = await import('../../targets/files/lake/place.ts');
  return {
    lake: diskLake({ directory, refuseLinks: !session.byHand }),
    localDirectory: () => Promise.resolve(directory),
  };
}

/** Tables of a lake are opened before files are. */
function folderFormat({ format }: ToolRequest): FileLayoutName {
  return isFileLayout(format) ? format : defaultLayout;
}

/** The thread needs as much memory as the threads of `--workers`, while rows arrive. */
function columnsThreadOf({ workers = 1 }: ToolRequest): ColumnsThreadOptions {
  return { startThread: (options) => startThread('tools/columns', options), isLate: workers > 1 };
}
