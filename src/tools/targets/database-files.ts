/** Targets that are one file of a database on this machine. */
import { resolve } from 'node:path';
import { AppError } from '../../errors.ts';
import type { Target } from '../../jobs/request/target.ts';
import { isRemote, localCopies } from '../session/remote-files.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { KindOfTarget } from './kind.ts';

type FileTarget = Extract<Target, { kind: 'sqlite' | 'duckdb' }>;

export const sqliteKind: KindOfTarget<Extract<Target, { kind: 'sqlite' }>> = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: () => 'sqlite',
  async openSink(session, target) {
    const options = await writtenFile(session, target);
    const { createSqliteRowSink } = await import('../../targets/sql/sqlite/driver.ts');
    return createSqliteRowSink(options);
  },
  async openSource(session, target) {
    const { createSqliteRowSource } = await import('../../targets/sql/sqlite/source.ts');
    return createSqliteRowSource({ file: await readFile(session, target) });
  },
  async openRemover(session, target) {
    const { createSqliteRowRemover } = await import('../../targets/sql/sqlite/driver.ts');
    return createSqliteRowRemover(await writtenFile(session, target));
  },
  whatWasRun: [
    {
      target: 'SQLite files',
      driver: 'Node’s `node:sqlite`',
      transaction: 'one',
      run_against: 'the SQLite of Node 26; read by the shell 3.40',
    },
  ],
};

export const duckdbKind: KindOfTarget<Extract<Target, { kind: 'duckdb' }>> = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: () => 'duckdb',
  async openSink(session, target) {
    const options = await writtenFile(session, target);
    const { createDuckDbRowSink } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowSink(options);
  },
  async openSource(session, target) {
    const { createDuckDbRowSource } = await import('../../targets/sql/duckdb/source.ts');
    return createDuckDbRowSource({ file: await readFile(session, target) });
  },
  async openRemover(session, target) {
    const { createDuckDbRowRemover } = await import('../../targets/sql/duckdb/driver.ts');
    return createDuckDbRowRemover(await writtenFile(session, target));
  },
  whatWasRun: [
    {
      target: 'DuckDB files',
      driver: '`@duckdb/node-api` 1.5.6',
      transaction: 'one',
      run_against: 'DuckDB 1.5; its files opened by 1.4 and 2.0',
    },
  ],
};

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
