/** Reads back what sinks wrote, every value as text. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from '../../src/adapters/postgres/connect.ts';

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

export function folderReader(directory: string, format: 'csv' | 'tsv'): TargetReader {
  return {
    read: async (table) => {
      const listed = (await folderManifest(directory))?.tables.find((candidate) => candidate.name === table);
      if (listed === undefined) return null;
      const rows: TextRow[] = [];
      for (const file of listed.files) {
        const text = await readFile(join(directory, file.name), 'utf8');
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
export function parseCsv(text: string): (string | null)[][] {
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
