/** Targets that are one file of a database on this machine. */
import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import { isRemote, localCopies } from '../session/remote-sources.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { KindOfTarget, WhatWasRun } from './kind.ts';
import type { RowRemover, RowSink } from '../../ports/rows/sink.ts';
import type { RowSource } from '../../ports/rows/source.ts';

type FileTarget = Extract<Target, { kind: 'sqlite' | 'duckdb' }>;

export const sqliteKind: KindOfTarget<Extract<Target, { kind: 'sqlite' }>> = databaseFile('sqlite', {
  async openSink(options) {
    const { createSqliteRowSink } = await import('../../targets/sql/sqlite/driver.ts');
    return createSqliteRowSink(options);
  },
  async openSource(options) {
    const { createSqliteRowSource } = await import('../../targets/sql/sqlite/source.ts');
    return createSqliteRowSource(options);
  },
  async openRemover(options) {
    const { createSqliteRowRemover } = await import('../../targets/sql/sqlite/driver.ts');
    return createSqliteRowRemover(options);
  },
  whatWasRun: {
    target: 'SQLite files',
    driver: 'Node’s `node:sqlite`',
    transaction: 'one',
    run_against: 'the SQLite of Node 26; read by the shell 3.40',
  },
});

export const duckdbKind: KindOfTarget<Extract<Target, { kind: 'duckdb' }>> = databaseFile('duckdb', {
  async openSink(options) {
    const { createDuckDbRowSink } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowSink(options);
  },
  async openSource(options) {
    const { createDuckDbRowSource } = await import('../../targets/sql/duckdb/source.ts');
    return createDuckDbRowSource(options);
  },
  async openRemover(options) {
    const { createDuckDbRowRemover } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowRemover(options);
  },
  whatWasRun: {
    target: 'DuckDB files',
    driver: '`@duckdb/node-api` 1.5.6',
    transaction: 'one',
    run_against: 'DuckDB 1.5; its files opened by 1.4 and 2.0',
  },
});

interface WrittenFile {
  readonly file: string;
  readonly refuseLinks: boolean;
  readonly signal: AbortSignal;
}

/** The operations that a kind of database provides for a file of its own. */
interface FileDatabase {
  openSink(options: WrittenFile): Promise<RowSink>;
  openSource(options: Pick<WrittenFile, 'file'>): Promise<RowSource>;
  openRemover(options: WrittenFile): Promise<RowRemover>;
  readonly whatWasRun: WhatWasRun;
}

function databaseFile<Kind extends FileTarget['kind']>(
  kind: Kind,
  { openSink, openSource, openRemover, whatWasRun }: FileDatabase,
): KindOfTarget<Extract<FileTarget, { kind: Kind }>> {
  return {
    hasFormats: false,
    hasVersions: false,
    ddlDialect: () => kind,
    openSink: async (session, target) => openSink(await writtenFile(session, target)),
    openSource: async (session, target) => openSource({ file: await readFile(session, target) }),
    openRemover: async (session, target) => openRemover(await writtenFile(session, target)),
    whatWasRun: [whatWasRun],
  };
}

/** The file itself, which several jobs may write. */
async function writtenFile(
  session: ToolSession,
  target: FileTarget,
): Promise<{ readonly file: string; readonly refuseLinks: boolean; readonly signal: AbortSignal }> {
  const file = session.byHand ? resolve(target.file) : await session.resolvePath(target.file, false);
  if (isRemote(file))
    throw new AppError(
      'invalid_option',
      `${session.request.tool === 'unload' ? '-i' : '-o'} ${target.kind}:FILE: needs a folder of the machine, not the shared store; a folder with -f parquet can be written there`,
    );
  return { file, refuseLinks: !session.byHand, signal: session.interrupted };
}

/** The file, or a copy of it on this machine. */
async function readFile(session: ToolSession, { file }: FileTarget): Promise<string> {
  if (session.byHand) return resolve(file);
  const location = await session.resolvePath(file, true);
  return (await localCopies(session, [location]))[0]!;
}
