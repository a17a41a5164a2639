/** The same documents in every target, and in every database that a folder's own script loads it into: readers of all of them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../src/engine/model/side-tables.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { isHere, needs, programOf, type Part } from '../../support/needs.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { freePort } from '../../support/service/external-postgres.ts';
import { convert } from '../../support/service/tools.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { mysqlReader } from './readers/mysql.ts';
import { deltalakeFolderReader } from './readers/deltalake.ts';
import { pyicebergFolderReader } from './readers/pyiceberg.ts';
import {
  deltaReader,
  duckDbReader,
  icebergReader,
  folderReader,
  postgresReader,
  type TargetReader,
  type TextRow,
} from '../row-sinks/readers.ts';
import { sqliteReader } from './readers/sqlite.ts';
import { canonicalRows, type CanonicalRow } from './values.ts';

export const formats = ['csv', 'tsv', 'jsonl', 'parquet'] as const;
/** of which the script is one of psql */
const scripted = ['csv', 'tsv', 'jsonl'] as const;

/** All that is held against PostgreSQL, with what it needs; folders that are loaded somewhere by the script that lies in them come last. */
const targets: readonly (readonly [name: string, parts: readonly Part[]])[] = [
  ['duckdb', []],
  ['sqlite', ['sqlite3']],
  ['mysql', mariadbParts],
  ...formats.map((format) => [format, []] as const),
  ['delta', []],
  ['delta, as deltalake reads it', ['deltalake']],
  ['iceberg', []],
  ['iceberg, as pyiceberg reads it', ['pyiceberg']],
  ['load.sql of parquet', []],
  ...scripted.map((format) => [`load.sql of ${format}`, ['psql']] as const),
  ['load.sqlite.sql of jsonl', ['sqlite3']],
  ['load.mysql.sql of tsv', mariadbParts],
];

/** Names of the targets, each with the options of its tests. */
export const targetTests = targets.map(([name, parts]) => [name, needs(parts)] as const);

export interface EveryTarget {
  /** as the catalogue holds it */
  readonly model: RelationalModel;
  /** Rows by what they are, not by where they stand: keys count, the times and numbers of the loads do not. Null: no such table. */
  rows(target: string, table: string): Promise<CanonicalRow[] | null>;
  /** As `rows`, each value as the target prints it, in the order of the rows' keys. */
  texts(target: string, table: string): Promise<readonly TextRow[]>;
  /** options of er2xml, by name of those targets that are loaded straight from documents */
  readonly sources: ReadonlyMap<string, readonly string[]>;
  drop(): Promise<void>;
}

/**
 * `jobs`: the inputs of each; targets lie in `out` of the home, under the names of the formats and as `values.duckdb`. `only`: the names of
 * the targets to load beside PostgreSQL; absent: all.
 */
export async function loadEveryTarget(
  home: ServiceHome,
  origin: number,
  jobs: readonly (readonly string[])[],
  only?: readonly string[],
): Promise<EveryTarget> {
  const isWanted = (name: string): boolean => only?.includes(name) ?? true;
  const drops: (() => Promise<unknown>)[] = [];
  const drop = async (): Promise<void> => {
    for (const one of drops) await one();
  };
  try {
    return { ...(await load({ home, origin, jobs, isWanted }, drops)), drop };
  } catch (error) {
    await drop();
    throw error;
  }
}

interface Loads {
  readonly home: ServiceHome;
  readonly origin: number;
  readonly jobs: readonly (readonly string[])[];
  readonly isWanted: (name: string) => boolean;
}

async function load(
  { home, origin, jobs, isWanted }: Loads,
  drops: (() => Promise<unknown>)[],
): Promise<Omit<EveryTarget, 'drop'>> {
  const readers = new Map<string, TargetReader>();
  const sources = new Map<string, readonly string[]>();
  const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 2 });
  drops.push(() => sql.end({ timeout: 1 }));
  const folder = (format: string): string => join(home.directory, 'out', format);
  const ofSqlite = folder('values.sqlite');
  // read by SQLite's own shell, when the model is known
  for (const inputs of isWanted('sqlite') ? jobs : [])
    await convert(home, 'xml2er', ...inputs, '-x', String(origin), '-o', `sqlite:${ofSqlite}`);
  const hasMariadb = isWanted('mysql') && mariadbParts.every(isHere);
  const mariadb = hasMariadb ? await loadMariadb(home, origin, jobs) : null;
  if (isWanted('sqlite')) sources.set('sqlite', ['-i', `sqlite:${ofSqlite}`]);
  if (mariadb !== null) {
    drops.push(() => mariadb.stop());
    sources.set('mysql', ['-i', mariadb.target, '-u', 'root']);
  }
  const file = folder('values.duckdb');
  const targets: [name: string, argv: string[], reader: TargetReader][] = [
    ['postgresql', ['-o', 'metadb:targets'], postgresReader(sql, 'targets')],
    ['duckdb', ['-o', `duckdb:${file}`], duckDbReader(file)],
    ...formats.map((format): [string, string[], TargetReader] => [
      format,
      ['-o', folder(format), '-f', format],
      folderReader(folder(format), format),
    ]),
    ['delta', ['-o', folder('delta'), '-f', 'delta'], deltaReader(folder('delta'))],
    ['iceberg', ['-o', folder('iceberg'), '-f', 'iceberg'], icebergReader(folder('iceberg'))],
  ];
  for (const [name, argv, reader] of targets) {
    if (name !== 'postgresql' && !isWanted(name)) continue;
    for (const inputs of jobs) await convert(home, 'xml2er', ...inputs, '-x', String(origin), ...argv);
    readers.set(name, reader);
    sources.set(name, ['-i', argv[1]!]);
  }
  if (isHere('deltalake'))
    readers.set('delta, as deltalake reads it', deltalakeFolderReader(folder('delta')));
  if (isHere('pyiceberg'))
    readers.set('iceberg, as pyiceberg reads it', pyicebergFolderReader(folder('iceberg')));
  // documents with roots of their own make the schema another one
  const stored = await createPostgresCatalogStore(sql).loadLogicalSchema(1, { idSch: origin });
  const { model } = stored!;
  for (const format of scripted)
    readers.set(
      `load.sql of ${format}`,
      loadedAtFirst(async () => {
        const database = await createEmptyDatabase();
        drops.push(() => database.drop());
        const argv = ['-X', '-q', '-f', 'load.sql', database.url];
        await promisify(execFile)(programOf('psql')!, argv, { cwd: folder(format) });
        return postgresReader(database.sql, 'public');
      }),
    );
  readers.set('sqlite', sqliteReader(ofSqlite, model));
  readers.set(
    'load.sqlite.sql of jsonl',
    loadedAtFirst(async () => {
      const loaded = join(home.directory, 'loaded.sqlite');
      const argv = [loaded, '.read load.sqlite.sql'];
      await promisify(execFile)(programOf('sqlite3')!, argv, { cwd: folder('jsonl') });
      return sqliteReader(loaded, model);
    }),
  );
  if (mariadb !== null) {
    readers.set('mysql', mysqlReader(mariadb, 'direct', model));
    readers.set(
      'load.mysql.sql of tsv',
      loadedAtFirst(async () => {
        await mariadb.run('CREATE DATABASE loaded;');
        const script = await readFile(join(folder('tsv'), 'load.mysql.sql'), 'utf8');
        await mariadb.run(script, folder('tsv'), 'loaded');
        return mysqlReader(mariadb, 'loaded', model);
      }),
    );
  }
  readers.set(
    'load.sql of parquet',
    loadedAtFirst(async () => {
      const loaded = join(home.directory, 'loaded.duckdb');
      await loadParquet(folder('parquet'), loaded);
      return duckDbReader(loaded);
    }),
  );
  return {
    model,
    sources,
    texts: async (target, table) => {
      const rows = (await readers.get(target)!.read(table)) ?? [];
      const key = Object.keys(rows[0] ?? {})[0]!;
      return rows.toSorted((a, b) => Number(a[key]) - Number(b[key]));
    },
    rows: async (target, table) => rowsByValue(model, table, await readers.get(target)!.read(table)),
  };
}

/** A reader of what a script loads, which runs at the first question: not every test asks it one. */
function loadedAtFirst(load: () => Promise<TargetReader>): TargetReader {
  let loaded: Promise<TargetReader> | null = null;
  return { read: async (table) => (await (loaded ??= load())).read(table) };
}

/** A server with the documents in its database `direct`, which its reader reads when the model is known. */
async function loadMariadb(
  home: ServiceHome,
  origin: number,
  jobs: readonly (readonly string[])[],
): Promise<TestMariadb & { readonly target: string }> {
  const port = await freePort();
  const server = await startMariadb({ port });
  try {
    await server.run('CREATE DATABASE direct;');
    const target = `mysql://127.0.0.1:${port}/direct`;
    for (const inputs of jobs)
      await convert(home, 'xml2er', ...inputs, '-x', String(origin), '-o', target, '-u', 'root');
    return { ...server, target };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** What `duckdb -f load.sql FILE` does inside the folder. */
async function loadParquet(folder: string, file: string): Promise<void> {
  const instance = await DuckDBInstance.create(file, { autoinstall_known_extensions: 'false' });
  const connection = await instance.connect();
  try {
    await connection.run(`SET file_search_path = '${folder}'`);
    await connection.run(await readFile(join(folder, 'load.sql'), 'utf8'));
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function rowsByValue(
  model: RelationalModel,
  table: string,
  rows: readonly TextRow[] | null,
): CanonicalRow[] | null {
  const side = Object.values(sideTableDefinitions).find((definition) => definition.name === table);
  const columns = side?.columns ?? model.tables.find((candidate) => candidate.name === table)!.columns;
  const types = new Map(columns.map((column) => [column.name, column.type]));
  const ofLoads = table === '_documents' ? ['loaded_at', 'job', 'job_uuid'] : [];
  const kept = rows?.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !ofLoads.includes(name))),
  );
  return kept === undefined ? null : canonicalRows(types, kept);
}
