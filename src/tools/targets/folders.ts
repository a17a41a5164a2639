/** From the text of a target (`-i`) to where its rows are; the code that reads or removes them is loaded when it is used. */
import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import { parseTarget, type Target } from '../../jobs/request/target.ts';
import type { RowRemover } from '../../ports/rows/remover.ts';
import type { RowSource } from '../../ports/rows/source.ts';
import type { LakeTarget } from '../../targets/files/lake/store/place.ts';
import type { BucketFolder } from './buckets.ts';
import { isRemote, localCopies, localFolder } from '../session/remote-files.ts';
import { postgresLocation } from './postgres.ts';
import type { ToolSession } from '../session/tool-session.ts';

export async function chooseRowSource(session: ToolSession): Promise<RowSource> {
  const target = inputTarget(session);
  const isVersioned = session.request.version !== undefined;
  if (isVersioned && !['folder', 'bucket', 'iceberg'].includes(target.kind)) throw noVersions();
  const localPath = (path: string): Promise<string> =>
    session.byHand
      ? Promise.resolve(resolve(path))
      : session
          .resolvePath(path, true)
          .then(async (location) => (await localCopies(session, [location]))[0]!);
  switch (target.kind) {
    case 'duckdb': {
      const { createDuckDbRowSource } = await import('../../targets/sql/duckdb/source.ts');
      return createDuckDbRowSource({ file: await localPath(target.file) });
    }
    case 'sqlite': {
      const { createSqliteRowSource } = await import('../../targets/sql/sqlite/source.ts');
      return createSqliteRowSource({ file: await localPath(target.file) });
    }
    case 'bucket':
    case 'folder': {
      const { lake, localDirectory } = await openFolder(session, target, 'read');
      const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
      if ((await lakeFormatOf(lake)) !== null) return tablesSource(session, lake);
      if (isVersioned) throw noVersions();
      const { createFolderRowSource } = await import('../../targets/files/folder/source.ts');
      const directory = await localDirectory();
      return createFolderRowSource({ directory, refuseLinks: !session.byHand });
    }
    case 'iceberg':
      return tablesSource(session, await catalogueAt(session, target, 'read'));
    case 'mysql': {
      const { mysqlLocation } = await import('./mysql.ts');
      const { createMysqlRowSource } = await import('../../targets/sql/mysql/source.ts');
      return createMysqlRowSource(await mysqlLocation(session, target));
    }
    default: {
      const { createPostgresRowSource } = await import('../../targets/sql/postgres/read/source.ts');
      return createPostgresRowSource(await postgresLocation(session, target, 'read'));
    }
  }
}

async function tablesSource(session: ToolSession, target: LakeTarget): Promise<RowSource> {
  const { createLakeRowSource } = await import('../../targets/files/lake/source.ts');
  const { version } = session.request;
  return createLakeRowSource({ target, ...(version === undefined ? {} : { version }) });
}

async function catalogueAt(
  session: ToolSession,
  target: Extract<Target, { kind: 'iceberg' }>,
  use: 'read' | 'write',
): Promise<LakeTarget> {
  const { openCatalogue } = await import('./catalogue.ts');
  return openCatalogue(session, target, use, localFolder(session, 'tables'));
}

interface OpenedFolder {
  /** as a folder of Delta or Iceberg tables */
  readonly lake: LakeTarget;
  /** on this machine: itself, or a copy of all that lies there */
  localDirectory(): Promise<string>;
}

async function openFolder(
  session: ToolSession,
  target: Extract<Target, { kind: 'folder' | 'bucket' }>,
  use: 'read' | 'write',
): Promise<OpenedFolder> {
  const { sharedFolder, openBucketFolder } = await import('./buckets.ts');
  if (target.kind === 'bucket') {
    const folder = await openBucketFolder(session, target, use);
    const { createBucketFiles } = await import('../../adapters/object-store/bucket-files.ts');
    const { fetchFiles } = await import('../../adapters/local-files/fetched-objects.ts');
    return {
      lake: await inBucket(session, folder, target.location),
      localDirectory: () =>
        fetchFiles(createBucketFiles(folder), folder.location, localFolder(session, 'in/0')),
    };
  }
  const directory = session.byHand
    ? resolve(target.path)
    : await session.resolvePath(target.path, use === 'read');
  if (isRemote(directory))
    return {
      lake: await inBucket(session, await sharedFolder(session, directory), target.path),
      localDirectory: async () => (await localCopies(session, [directory]))[0]!,
    };
  const { diskLake } = await import('../../targets/files/lake/store/disk.ts');
  return {
    lake: diskLake({ directory, refuseLinks: !session.byHand }),
    localDirectory: () => Promise.resolve(directory),
  };
}

async function inBucket(session: ToolSession, folder: BucketFolder, label: string): Promise<LakeTarget> {
  const { bucketLake } = await import('../../targets/files/lake/store/bucket/objects.ts');
  return bucketLake({ ...folder, label, scratch: localFolder(session, 'tables') });
}

function noVersions(): AppError {
  return new AppError(
    'invalid_option',
    '--version: earlier versions are there of Delta and Iceberg tables alone (-f delta, -f iceberg, iceberg:https://…); leave it out',
  );
}

export async function chooseRowRemover(session: ToolSession): Promise<RowRemover> {
  const target = inputTarget(session);
  if (target.kind === 'sqlite' || target.kind === 'duckdb') {
    const file = session.byHand ? resolve(target.file) : await session.resolvePath(target.file, false);
    const options = { file, refuseLinks: !session.byHand };
    if (target.kind === 'sqlite') {
      const { createSqliteRowRemover } = await import('../../targets/sql/sqlite/driver.ts');
      return createSqliteRowRemover(options);
    }
    const { createDuckDbRowRemover } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowRemover(options);
  }
  if (target.kind === 'iceberg') {
    const { createLakeRowRemover } = await import('../../targets/files/lake/remover.ts');
    return createLakeRowRemover(await catalogueAt(session, target, 'write'));
  }
  if (target.kind === 'folder' || target.kind === 'bucket') {
    const { lake } = await openFolder(session, target, 'write');
    const { lakeFormatOf } = await import('../../targets/files/lake/look.ts');
    if ((await lakeFormatOf(lake)) !== null) {
      const { createLakeRowRemover } = await import('../../targets/files/lake/remover.ts');
      return createLakeRowRemover(lake);
    }
  }
  if (target.kind === 'folder' || target.kind === 'bucket') {
    throw new AppError(
      'invalid_option',
      '-i: unload removes documents from postgresql://, mysql://, metadb:, sqlite: and duckdb: targets, and from Delta and Iceberg tables (folders, s3://, iceberg:https://…). To remove them from a folder of CSV, TSV, JSON Lines or Parquet, load the others again with -S o.',
    );
  }
  if (target.kind === 'mysql') {
    const { mysqlLocation } = await import('./mysql.ts');
    const { createMysqlRowRemover } = await import('../../targets/sql/mysql/remover.ts');
    return createMysqlRowRemover(await mysqlLocation(session, target));
  }
  const connection = await postgresLocation(session, target, 'read');
  const { createPostgresRowRemover } = await import('../../targets/sql/postgres/read/remover.ts');
  return createPostgresRowRemover(connection);
}

function inputTarget({ request }: ToolSession): Target {
  const target = parseTarget(request.in!);
  if ('fault' in target) throw new AppError('invalid_option', `-i: the target ${target.fault}`);
  return target;
}
