/** Rows wider than one table, into every target in two jobs: keys go on where the last job ended, in all tables of a row alike. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { compiled, modelOf } from '../../support/models/shredding.ts';
import { wideDocument, wideXsd } from '../../support/documents/wide.ts';
import { useTrial } from '../../support/service/trial.ts';
import { duckDbReader, folderReader, postgresReader, type TargetReader } from '../row-sinks/readers.ts';
import { canonicalValue } from './values.ts';
import { needs } from '../../support/needs.ts';

const columns = 300;
const xsd = wideXsd(columns);
const model = modelOf(compiled(xsd), 3);
const formats = ['csv', 'tsv', 'jsonl', 'parquet'] as const;

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
const readers = new Map<string, TargetReader>();

beforeAll(async () => {
  home = await trial.home();
  const schema = join(home.directory, 'wide.xsd');
  await writeFile(schema, xsd);
  const origin = String((await convert(home, 'xsd2er', schema, '-g', '3')).origin);
  sql = await trial.metadb(home, 1);
  const file = join(home.directory, 'wide.duckdb');
  const targets: [name: string, argv: string[], reader: TargetReader][] = [
    ['postgresql', ['-o', 'metadb:wide'], postgresReader(sql, 'wide')],
    ['duckdb', ['-o', `duckdb:${file}`], duckDbReader(file)],
    ...formats.map((format): [string, string[], TargetReader] => {
      const directory = join(home.directory, format);
      return [format, ['-o', directory, '-f', format], folderReader(directory, format)];
    }),
  ];
  const documents = [1, 2].map((seed) => join(home.directory, `wide-${seed}.xml`));
  for (const [at, path] of documents.entries()) await writeFile(path, wideDocument(columns, at + 1));
  for (const [name, argv, reader] of targets) {
    for (const path of documents) await convert(home, 'xml2er', path, '-x', origin, ...argv);
    readers.set(name, reader);
  }
}, 240_000);

/** Rows of the table, and of the one that continues it, by value. */
async function rowsOf(target: string): Promise<Record<string, string | null>[]> {
  const rows: Record<string, string | null>[] = [];
  for (const name of ['row', 'row_2']) {
    const types = new Map(
      model.tables.find((table) => table.name === name)!.columns.map((column) => [column.name, column.type]),
    );
    const read = (await readers.get(target)!.read(name))!;
    for (const [at, row] of read.entries()) {
      const values = Object.entries(row).map(([column, value]) => [
        column === 'row_key' ? `${name}.row_key` : column,
        canonicalValue(types.get(column)!, value),
      ]);
      rows[at] = { ...rows[at], ...Object.fromEntries(values) };
    }
  }
  return rows;
}

describe('300 columns', needs('whole run'), () => {
  test('have the same keys in both tables', async () => {
    const rows = await rowsOf('postgresql');
    expect(rows.map((row) => [row['row.row_key'], row['row_2.row_key']])).toEqual(
      ['1', '2', '3', '4', '5', '6'].map((key) => [key, key]),
    );
    expect(Object.keys(rows[0]!)).toHaveLength(columns + 5);
    expect(rows[4]!['v296']).toBeNull();
    expect(rows[3]!['v296']).toBe('2 text 296'.padEnd(23, 'x'));
  });

  test.each(['duckdb', ...formats])('%s holds what PostgreSQL holds', async (target) => {
    expect(await rowsOf(target)).toEqual(await rowsOf('postgresql'));
  });
});
