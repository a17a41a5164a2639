/** From the text of a target (`-o`) to the sink that takes its rows; the code of a sink is loaded when it is used. */
import { resolve } from 'node:path';
import type { FolderFormat } from '../../adapters/folder/contents/formats.ts';
import type { LakeFormatName } from '../../adapters/lake/formats.ts';
import { AppError } from '../../errors.ts';
import { parseTarget } from '../../jobs/request/target.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import type { RowSink } from '../../ports/rows/sink.ts';
import { isRemote, localFolder } from './remote-files.ts';
import { postgresLocation } from './postgres-target.ts';
import type { ToolSession } from './tool-session.ts';

/** how long a job waits for others that write into the same folder */
const lockTimeoutMs = 15 * 60_000;

export async function openSink(session: ToolSession): Promise<RowSink> {
  const { request } = session;
  // what documents are taken out of is asked like what they go into, whether it has the job
  const isRemoval = request.tool === 'unload';
  const target = parseTarget((isRemoval ? request.in : request.out)!);
  if ('fault' in target)
    throw new AppError('invalid_option', `${isRemoval ? '-i' : '-o'}: the target ${target.fault}`);
  if (request.format !== undefined && target.kind !== 'folder')
    session.log(`-f ${request.format} is for folders: it changes nothing here`);
  switch (target.kind) {
    case 'metadb':
    case 'postgresql': {
      const { createPostgresRowSink } = await import('../../adapters/postgres/target/sink.ts');
      const connection = await postgresLocation(session, target, 'load');
      if (target.kind === 'metadb' && !session.home.roles.loader)
        session.log(
          'the metadata database lets us make no role for loading: rows are written as its own user',
        );
      return createPostgresRowSink({ ...connection, createSchema: true });
    }
    case 'mysql': {
      const { mysqlLocation } = await import('./mysql-target.ts');
      const { createMysqlRowSink } = await import('../../adapters/mysql/sink.ts');
      return createMysqlRowSink(await mysqlLocation(session, target));
    }
    case 'folder': {
      const directory = session.byHand ? resolve(target.path) : await session.resolvePath(target.path, false);
      const { format = 'csv' } = request;
      const { isLakeFormat } = await import('../../adapters/lake/formats.ts');
      const there = isRemoval && !isRemote(directory) ? await formatThere(directory) : format;
      if (isLakeFormat(there)) {
        if (isRemote(directory))
          throw new AppError(
            'invalid_option',
            `-f ${there}: needs a folder of the machine, not the shared store; -f parquet can be written there`,
          );
        if (request.views === true)
          session.log(
            '--views: a folder of Delta or Iceberg tables has no views; conversion-job-service views NAME writes them for what reads the tables',
          );
        const { createLakeRowSink } = await import('../../adapters/lake/sink.ts');
        return createLakeRowSink({ directory, format: there, refuseLinks: !session.byHand });
      }
      if (isRemote(directory)) return openObjectFolder(session, there, directory, target.path);
      const { createFolderRowSink } = await import('../../adapters/folder/sink.ts');
      return createFolderRowSink({ directory, format: there, refuseLinks: !session.byHand });
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
        const { createSqliteRowSink } = await import('../../adapters/sqlite/target/sink.ts');
        return createSqliteRowSink(options);
      }
      const { createDuckDbRowSink } = await import('../../adapters/duckdb/target/sink.ts');
      return createDuckDbRowSink(options);
    }
  }
}

/** Of the tables that documents are taken out of. */
async function formatThere(directory: string): Promise<LakeFormatName> {
  const { lakeFormatOf } = await import('../../adapters/lake/manifest.ts');
  return (await lakeFormatOf(directory)) ?? 'delta';
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
    (target.kind === 'folder' && format !== undefined && !['csv', 'tsv', 'jsonl'].includes(format))
    ? 'duckdb'
    : 'postgresql';
}

/** A folder of the shared store; the metadata database, which all machines have in common, holds its lock. */
async function openObjectFolder(
  session: ToolSession,
  format: FolderFormat,
  location: string,
  label: string,
): Promise<RowSink> {
  const { createObjectFolderRowSink } = await import('../../adapters/folder/object-store-sink.ts');
  const { takeAdvisoryLock } = await import('../../adapters/postgres/client/advisory-lock.ts');
  return createObjectFolderRowSink({
    files: session.home.adapters.files,
    location,
    label,
    format,
    idJob: session.idJob,
    staging: localFolder(session, 'out'),
    lock: () => takeAdvisoryLock(session.home.sql, `conversion-job-service ${location}`, lockTimeoutMs),
  });
}
