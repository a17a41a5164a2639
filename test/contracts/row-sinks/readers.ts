/** Reads back what sinks wrote, every value as text. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import avro from 'avsc';
import { mysql } from '../../../src/engine/sql/dialects/mysql.ts';
import { physicalName, physicalTables } from '../../../src/engine/sql/physical-model.ts';
import { withListTables } from '../../../src/engine/sql/list-tables.ts';
import type { TestMariadb } from '../../support/servers/mariadb.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import type { Sql } from '../../../src/postgres/connect.ts';

export type TextRow = Readonly<Record<string, string | null>>;

export interface TargetReader {
  /** rows by their first column; null where the table does not exist */
  read(table: string): Promise<TextRow[] | null>;
}

export function postgresReader(sql: Sql, sqlSchema: string): TargetReader {
  return {
    read: async (table) => {
      const columns = await sql<{ name: string }[]>`
        select column_name as name from information_schema.columns
         where table_schema = ${sqlSchema} and table_name = ${table} order by ordinal_position`;
      if (columns.length === 0) return null;
      const list = columns.map(({ name }) => sql`${sql(name)}::text as ${sql(name)}`);
      const joined = list.reduce((all, one) => sql`${all}, ${one}`);
      return [
        ...(await sql<
          TextRow[]
        >`select ${joined} from ${sql(sqlSchema)}.${sql(table)} order by ${sql(table)}.${sql(columns[0]!.name)}`),
      ];
    },
  };
}

/** A DuckDB file; it is open only while it is read. */
export function duckDbReader(file: string): TargetReader {
  return {
    read: async (table) => {
      if (!existsSync(file)) return null;
      const quoted = `"${table.replaceAll('"', '""')}"`;
      const rows = await duckDbRows(file, quoted).catch((error: Error) => {
        if (/Table with name .* does not exist/s.test(error.message)) return null;
        throw error;
      });
      if (rows === null || rows.length === 0) return rows;
      const key = Object.keys(rows[0]!)[0]!;
      return rows.toSorted((a, b) => Number(a[key]) - Number(b[key]));
    },
  };
}

let memory: Promise<DuckDBConnection> | null = null;

/** A database without tables, in which files are read. Tests read hundreds of files, and opening a database takes longer than reading one. */
async function openMemory(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  // a file of the same name may be another one by the next question
  await connection.run('SET enable_external_file_cache = false');
  return connection;
}

/** All of `source`, every value as text; lists as PostgreSQL writes them. */
export async function duckDbRows(path: string, source: string): Promise<TextRow[]> {
  if (path === ':memory:') return rowsAsText(await (memory ??= openMemory()), source);
  const options = { access_mode: 'READ_ONLY', autoinstall_known_extensions: 'false' };
  const instance = await DuckDBInstance.create(path, options);
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    return await rowsAsText(connection, source);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function rowsAsText(connection: DuckDBConnection, source: string): Promise<TextRow[]> {
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${source}`);
  const columns = described.getRowObjects() as { column_name: string; column_type: string }[];
  const values = columns.map(({ column_name: name, column_type: type }) => {
    const quoted = `"${name.replaceAll('"', '""')}"`;
    const text = type.endsWith('[]') ? arrayLiteral(`${quoted}::VARCHAR[]`) : `${quoted}::VARCHAR`;
    return `${text} AS ${quoted}`;
  });
  const rows = await connection.runAndReadAll(`SELECT ${values.join(', ')} FROM ${source}`);
  return rows.getRowObjects() as TextRow[];
}

function arrayLiteral(list: string): string {
  const item = `CASE WHEN x = '' OR upper(x) = 'NULL' OR regexp_matches(x, '[{},"\\\\\\s]')
    THEN '"' || regexp_replace(x, '(["\\\\])', '\\\\\\1', 'g') || '"' ELSE x END`;
  return `'{' || array_to_string(list_transform(${list}, lambda x: ${item}), ',') || '}'`;
}

function arrayItem(item: string): string {
  return item === '' || item.toUpperCase() === 'NULL' || /[{},"\\\s]/.test(item)
    ? `"${item.replaceAll(/["\\]/g, '\\$&')}"`
    : item;
}

const source = (_key: string, value: unknown, context: { source?: string }): unknown =>
  typeof value === 'number' ? context.source : value;

/** Numbers with the digits that they were written with. */
function parseJsonLines(text: string, columns: readonly string[]): TextRow[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const row = JSON.parse(line, source as (key: string, value: unknown) => unknown) as Record<
        string,
        string | boolean | string[] | null
      >;
      if (JSON.stringify(Object.keys(row)) !== JSON.stringify(columns)) throw new Error(`members of ${line}`);
      return Object.fromEntries(
        Object.entries(row).map(([name, value]) => [
          name,
          value === null
            ? null
            : Array.isArray(value)
              ? `{${value.map((item) => arrayItem(String(item))).join(',')}}`
              : String(value),
        ]),
      );
    });
}

/** Tables of Delta, by the lines of their logs: none of the code that writes them has a part in it. */
export function deltaReader(directory: string): TargetReader {
  return lakeReader(directory, deltaFiles);
}

/** Tables of Iceberg, by their manifests: none of the code that writes them has a part in it. */
export function icebergReader(directory: string): TargetReader {
  return lakeReader(directory, icebergFiles);
}

function lakeReader(directory: string, filesOf: (folder: string) => Promise<string[]>): TargetReader {
  return {
    read: async (table) => {
      const manifest = JSON.parse(
        await readFile(join(directory, 'manifest.json'), 'utf8').catch(() => '{"tables":[]}'),
      ) as { readonly tables: readonly { readonly name: string; readonly directory: string }[] };
      const listed = manifest.tables.find(({ name }) => name === table);
      if (listed === undefined) return null;
      const folder = join(directory, listed.directory);
      const files = await filesOf(folder);
      if (files.length === 0) return [];
      const paths = files.map((path) => `'${join(folder, path).replaceAll("'", "''")}'`).join(', ');
      const rows = await duckDbRows(':memory:', `read_parquet([${paths}], union_by_name = true)`);
      const key = Object.keys(rows[0] ?? {})[0]!;
      return rows.toSorted((a, b) => Number(a[key]) - Number(b[key]));
    },
  };
}

/** Whose files are told: those of versions before are still there where files became one. */
type FilesOf = 'newest version' | 'any version';

/** Paths of the files that a Delta table has. */
export async function deltaFiles(folder: string, of: FilesOf = 'newest version'): Promise<string[]> {
  const files = new Set<string>();
  const log = join(folder, '_delta_log');
  for (const name of (await readdir(log)).filter((one) => /^\d+\.json$/.test(one)).toSorted())
    for (const line of (await readFile(join(log, name), 'utf8')).trim().split('\n')) {
      const { add, remove } = JSON.parse(line) as Record<'add' | 'remove', { path: string } | undefined>;
      if (add !== undefined) files.add(add.path);
      if (remove !== undefined && of === 'newest version') files.delete(remove.path);
    }
  return [...files];
}

/** Paths of the files that an Iceberg table has; its newest version is that to which its hint points. */
export async function icebergFiles(folder: string, of: FilesOf = 'newest version'): Promise<string[]> {
  const metadata = join(folder, 'metadata');
  const version = (await readFile(join(metadata, 'version-hint.text'), 'utf8')).trim();
  const table = JSON.parse(await readFile(join(metadata, `v${version}.metadata.json`), 'utf8')) as {
    readonly location: string;
    readonly 'current-snapshot-id': number;
    readonly snapshots: readonly { readonly 'snapshot-id': number; readonly 'manifest-list': string }[];
  };
  const snapshots = table.snapshots.filter(
    (one) => of === 'any version' || one['snapshot-id'] === table['current-snapshot-id'],
  );
  const files = new Set<string>();
  // the folder may be a copy of what lies in a bucket
  const here = (path: string): string => join(folder, path.slice(table.location.length));
  for (const snapshot of snapshots)
    for (const manifest of await avroRecords(here(snapshot['manifest-list'])))
      for (const entry of await avroRecords(here(manifest['manifest_path'] as string))) {
        const { file_path: path } = entry['data_file'] as { readonly file_path: string };
        if (entry['status'] !== 2) files.add(path.slice(table.location.length + 1));
      }
  return [...files];
}

async function avroRecords(path: string): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = [];
  for await (const record of avro.createFileDecoder(path)) records.push(record as Record<string, unknown>);
  return records;
}

interface FolderManifest {
  readonly tables: {
    readonly name: string;
    readonly files: { readonly name: string; readonly columns: string[] }[];
  }[];
}

export async function folderManifest(directory: string): Promise<FolderManifest | null> {
  const path = join(directory, 'manifest.json');
  return existsSync(path) ? (JSON.parse(await readFile(path, 'utf8')) as FolderManifest) : null;
}

export function folderReader(directory: string, format: 'csv' | 'tsv' | 'jsonl' | 'parquet'): TargetReader {
  return {
    read: async (table) => {
      const listed = (await folderManifest(directory))?.tables.find((candidate) => candidate.name === table);
      if (listed === undefined) return null;
      const rows: TextRow[] = [];
      for (const file of listed.files) {
        const path = join(directory, file.name);
        if (format === 'parquet') {
          rows.push(...(await duckDbRows(':memory:', `read_parquet('${path.replaceAll("'", "''")}')`)));
          continue;
        }
        const text = await readFile(path, 'utf8');
        if (format === 'jsonl') {
          rows.push(...parseJsonLines(text, file.columns));
          continue;
        }
        const [header, ...records] = format === 'csv' ? parseCsv(text) : parseTsv(text);
        if (JSON.stringify(header) !== JSON.stringify(file.columns))
          throw new Error(`header of ${file.name}: ${header}`);
        rows.push(
          ...records.map((record) => Object.fromEntries(record.map((value, at) => [header![at]!, value]))),
        );
      }
      const key = listed.files[0]!.columns[0]!;
      return rows.toSorted((a, b) => Number(a[key]) - Number(b[key]));
    },
  };
}

/** RFC 4180; an empty field without quotes is null. */
function parseCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = [];
  let record: (string | null)[] = [];
  for (let at = 0; at < text.length;) {
    let value: string | null = null;
    if (text[at] === '"') {
      value = '';
      for (at += 1; ; at += 1) {
        if (text[at] === '"' && text[at + 1] !== '"') break;
        if (text[at] === '"') at += 1;
        value += text[at];
      }
      at += 1;
    } else {
      const end = /[,\n]/g;
      end.lastIndex = at;
      const stop = end.exec(text)!.index;
      value = stop === at ? null : text.slice(at, stop);
      at = stop;
    }
    record.push(value);
    if (text[at] === '\n') {
      records.push(record);
      record = [];
    }
    at += 1;
  }
  return records;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** A database of MariaDB, by its own client; lists of the library's model are put together again. */
export function mysqlReader(server: () => TestMariadb, database: string): TargetReader {
  const rowsOf = async (table: string): Promise<TextRow[] | null> => {
    const types = await server().run(
      `SELECT column_name, column_type FROM information_schema.columns WHERE table_schema = '${database}' AND table_name = '${table.replaceAll("'", "''")}' ORDER BY ordinal_position;`,
    );
    const columns = parseTsv(types).slice(1) as [string, string][];
    if (columns.length === 0) return null;
    const values = columns.map(([name, type]) => {
      const quoted = mysql.quote(name);
      if (type === 'tinyint(1)') return `CASE ${quoted} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END`;
      if (type === 'decimal(65,30)') return `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM ${quoted}))`;
      return `CAST(${quoted} AS CHAR)`;
    });
    const text = await server().run(
      `SET NAMES utf8mb4; SELECT ${values.map((value) => `HEX(${value})`).join(', ')} FROM ${mysql.quote(table)} ORDER BY ${mysql.quote(columns[0]![0])};`,
      undefined,
      database,
    );
    return text
      .split('\n')
      .slice(1, -1)
      .map((line) =>
        Object.fromEntries(
          line
            .split('\t')
            .map((value, at) => [
              columns[at]![0],
              value === 'NULL' ? null : Buffer.from(value, 'hex').toString('utf8'),
            ]),
        ),
      );
  };
  return {
    read: async (table) => {
      const found = await rowsOf(physicalName(mysql, table));
      const index = libraryModel.tables.findIndex(({ name }) => name === table);
      if (found === null || index < 0) return found;
      const { columns } = libraryModel.tables[index]!;
      const names = new Map(columns.map(({ name }) => [physicalName(mysql, name), name]));
      const rows = found.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [names.get(name) ?? name, value])),
      );
      const { model: drawn, lists } = withListTables(libraryModel, mysql);
      const physical = physicalTables(drawn, mysql, libraryModel);
      let whole = rows;
      for (const list of lists.filter(({ owner }) => owner === index)) {
        const [, parent, position, item] = physical[list.table!]!.columns.map(({ name }) => name);
        const items = (await rowsOf(physical[list.table!]!.name)) ?? [];
        const key = physical[index]!.columns[0]!.name;
        const count = physical[index]!.columns[list.column]!.name;
        whole = whole.map((row) => {
          const own = items
            .filter((one) => one[parent!] === row[key])
            .toSorted((a, b) => Number(a[position!]) - Number(b[position!]));
          if (row[count] !== null && own.length !== Number(row[count]))
            throw new Error(`${own.length} items, not ${row[count]}`);
          const name = libraryModel.tables[index]!.columns[list.column]!.name;
          return {
            ...row,
            [name]: row[count] === null ? null : `{${own.map((one) => arrayItem(one[item!]!)).join(',')}}`,
          };
        });
      }
      return whole;
    },
  };
}

/** PostgreSQL's COPY text format. */
export function parseTsv(text: string): (string | null)[][] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) =>
      line
        .split('\t')
        .map((value) =>
          value === '\\N' ? null : value.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter]!),
        ),
    );
}
