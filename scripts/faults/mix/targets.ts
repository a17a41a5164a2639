/** The eight kinds of targets of mixed cycles. Each reads its own tables and files without the code of the product that wrote them. */
import { access, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DuckDBInstance } from '@duckdb/node-api';
import { deltaFiles, folderManifest } from '../../../test/contracts/row-sinks/readers.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { TestMariadb } from '../../../test/support/servers/mariadb.ts';

export interface MixTarget {
  readonly kind: string;
  /** of xml2er */
  readonly options: readonly (readonly [string, string])[];
  /** Runs `work` on the tables, or returns null if there are none. Queries name tables without quotes. */
  read<T>(work: (ask: Ask) => Promise<T>): Promise<T | null>;
  /** Names of all tables and files of the target. */
  contents(): Promise<readonly string[]>;
  /** Names of files that no version of a table has. */
  strayFiles?(): Promise<readonly string[]>;
  remove(): Promise<unknown>;
}

/** Rows of a query in SQL that every database understands. */
export type Ask = (query: string) => Promise<readonly (readonly unknown[])[]>;

export interface TargetPlaces {
  /** connections to the metadata database that no fault interrupts */
  readonly sql: Sql;
  /** of the same server, through PgBouncer; null: PgBouncer is not installed */
  readonly pooled: string | null;
  /** null: MariaDB is not installed */
  readonly mariadb: { readonly server: TestMariadb; readonly port: number } | null;
  /** of files */
  readonly folder: string;
}

/** One target of each kind; `name` is a word that no other target has. */
export async function makeTargets(places: TargetPlaces, name: string): Promise<readonly MixTarget[]> {
  const { sql, pooled, mariadb, folder } = places;
  return [
    schemaTarget(sql, 'metadb', name, [['-o', `metadb:${name}`]]),
    ...(pooled === null ? [] : [pooledTarget(sql, pooled, `${name}_pooled`)]),
    ...(mariadb === null ? [] : [await mariadbTarget(mariadb.server, mariadb.port, name)]),
    fileTarget('sqlite', folder, name, inSqlite),
    fileTarget('duckdb', folder, name, inDuckDb),
    folderTarget('csv', folder, name),
    folderTarget('parquet', folder, name),
    deltaTarget(folder, name),
  ];
}

function pooledTarget(sql: Sql, address: string, name: string): MixTarget {
  const { host, username, password, pathname } = new URL(address);
  return schemaTarget(sql, 'postgresql', name, [
    ['-o', `postgresql://${host}${pathname}?schema=${name}`],
    ['-u', username],
    ['-p', password],
  ]);
}

function schemaTarget(sql: Sql, kind: string, name: string, options: MixTarget['options']): MixTarget {
  const contents = async (): Promise<string[]> =>
    (
      await sql`select relname::text as name from pg_class where relnamespace = to_regnamespace(${name})::oid and relkind = 'r'`
    ).map((row) => row['name'] as string);
  return {
    kind,
    options,
    contents,
    read: async (work) => {
      if (!(await contents()).includes('_documents')) return null;
      const own = await sql.reserve();
      try {
        await own`set search_path to ${own(name)}`;
        // compiling the queries takes longer than running them
        await own`set jit = off`;
        return await work((query) => own.unsafe(query).values());
      } finally {
        await own`reset all`;
        own.release();
      }
    },
    remove: () => sql`drop schema if exists ${sql(name)} cascade`,
  };
}

async function mariadbTarget(server: TestMariadb, port: number, name: string): Promise<MixTarget> {
  await server.run(`CREATE DATABASE ${name};`);
  const ask = async (query: string): Promise<string[][]> =>
    // hash joins: the tables have no indexes that the queries could use
    (await server.run(`SET join_cache_level = 4; ${query};`, undefined, name))
      .split('\n')
      .slice(1, -1)
      .map((line) => line.split('\t'));
  const contents = async (): Promise<string[]> => (await ask('SHOW TABLES')).map(([table]) => table!);
  return {
    kind: 'mariadb',
    options: [
      ['-o', `mysql://127.0.0.1:${port}/${name}`],
      ['-u', 'root'],
    ],
    contents,
    read: async (work) => ((await contents()).includes('_documents') ? work(ask) : null),
    remove: () => server.run(`DROP DATABASE ${name};`),
  };
}

type Open = <T>(path: string, work: (ask: Ask) => Promise<T>) => Promise<T>;

const inSqlite: Open = async (path, work) => {
  const database = new DatabaseSync(path);
  try {
    return await work(async (query) => database.prepare(query).all().map(Object.values));
  } finally {
    database.close();
  }
};

const inDuckDb: Open = async (path, work) => {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  try {
    return await work(async (query) => (await connection.runAndReadAll(query)).getRows());
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
};

/** A folder of its own holds the file, so that all files in it belong to it. */
function fileTarget(kind: 'sqlite' | 'duckdb', places: string, name: string, open: Open): MixTarget {
  const folder = join(places, `${name}-${kind}`);
  const path = join(folder, `rows.${kind}`);
  return {
    kind,
    options: [['-o', `${kind}:${path}`]],
    contents: () => namesBelow(folder),
    read: async (work) => {
      if (!(await isPresent(path))) return null;
      return open(path, async (ask) => {
        const catalogue = kind === 'sqlite' ? 'sqlite_master' : 'duckdb_tables()';
        const column = kind === 'sqlite' ? 'name' : 'table_name';
        const [[there]] = (await ask(`select count(*) from ${catalogue} where ${column} = '_documents'`)) as [
          [unknown],
        ];
        return Number(there) > 0 ? work(ask) : null;
      });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function folderTarget(kind: 'csv' | 'parquet', places: string, name: string): MixTarget {
  const folder = join(places, `${name}-${kind}`);
  const listed = async (): Promise<readonly (readonly [table: string, files: readonly string[]])[]> =>
    ((await folderManifest(folder))?.tables ?? []).map(({ name: table, files }) => [
      table,
      files.map((file) => file.name),
    ]);
  return {
    kind,
    options: [
      ['-o', folder],
      ['-f', kind],
    ],
    contents: () => namesBelow(folder),
    strayFiles: async () => {
      const known = new Set((await listed()).flatMap(([, files]) => files));
      return (await namesBelow(folder)).filter((file) => file.endsWith(`.${kind}`) && !known.has(file));
    },
    read: async (work) => withTables(folder, await listed(), kind, work),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Written after ten versions, which a load without a fault may not reach. */
const checkpoint = /\/_delta_log\/(?:\d+\.checkpoint\.parquet|_last_checkpoint)$/;

function deltaTarget(places: string, name: string): MixTarget {
  const folder = join(places, `${name}-delta`);
  const listed = async (
    of: 'newest version' | 'any version',
  ): Promise<readonly (readonly [table: string, files: readonly string[]])[]> => {
    const manifest = (await folderManifest(folder)) as {
      readonly tables: readonly { readonly name: string; readonly directory: string }[];
    } | null;
    return Promise.all(
      (manifest?.tables ?? []).map(
        async ({ name: table, directory }) =>
          [
            table,
            (await deltaFiles(join(folder, directory), of)).map((file) => join(directory, file)),
          ] as const,
      ),
    );
  };
  return {
    kind: 'delta',
    options: [
      ['-o', folder],
      ['-f', 'delta'],
    ],
    contents: async () => (await namesBelow(folder)).filter((file) => !checkpoint.test(file)),
    strayFiles: async () => {
      const known = new Set((await listed('any version')).flatMap(([, files]) => files));
      return (await namesBelow(folder)).filter(
        (file) => file.endsWith('.parquet') && !file.includes('_delta_log') && !known.has(file),
      );
    },
    read: async (work) => withTables(folder, await listed('newest version'), 'parquet', work),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs `work` on a DuckDB in memory that holds the rows of these files of a folder. */
async function withTables<T>(
  folder: string,
  tables: readonly (readonly [table: string, files: readonly string[]])[],
  format: 'csv' | 'parquet',
  work: (ask: Ask) => Promise<T>,
): Promise<T | null> {
  if (!tables.some(([table, files]) => table === '_documents' && files.length > 0)) return null;
  return inDuckDb(':memory:', async (ask) => {
    for (const [table, files] of tables) {
      if (files.length === 0) continue;
      const paths = files.map((file) => join(folder, file));
      const rows = format === 'csv' ? await csvRows(paths) : parquetRows(paths);
      await ask(`CREATE TABLE "${table}" AS ${rows}`);
    }
    return work(ask);
  });
}

const listOf = (paths: readonly string[]): string => `[${paths.map((path) => `'${path}'`).join(', ')}]`;

/** Columns that queries join and group by: reading the others would take most of the time. */
const countedColumns = `COLUMNS('_key$|^job$|^name$')`;

const parquetRows = (paths: readonly string[]): string =>
  `SELECT ${countedColumns} FROM read_parquet(${listOf(paths)}, union_by_name = true)`;

/** Returns a query of the rows of CSV files. It names the columns, because DuckDB takes longer to guess the form of each file than to read it. */
async function csvRows(paths: readonly string[]): Promise<string> {
  const filesByHeader = new Map<string, string[]>();
  for (const path of paths) {
    const bytes = await readFile(path);
    const header = bytes
      .subarray(0, Math.max(0, bytes.indexOf('\n')))
      .toString()
      .trimEnd();
    filesByHeader.set(header, [...(filesByHeader.get(header) ?? []), path]);
  }
  return [...filesByHeader]
    .map(([header, files]) => {
      const columns = header.split(',').map((name) => `'${name.replaceAll('"', '')}': 'VARCHAR'`);
      return `SELECT ${countedColumns} FROM read_csv(${listOf(files)}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"', columns = {${columns.join(', ')}})`;
    })
    .join(' UNION ALL BY NAME ');
}

async function namesBelow(folder: string): Promise<string[]> {
  return readdir(folder, { recursive: true }).catch(() => []);
}

function isPresent(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
