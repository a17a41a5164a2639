/** Our Parquet files hold what DuckDB's own reading of the same rows gives, for every type and at the ends of each. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stagedColumn, stagedRows, stagedValue } from '../../../src/targets/sql/duckdb/csv-import.ts';
import { openDuckDb, type DuckDb } from '../../../src/targets/sql/duckdb/database.ts';
import { encodedRows, extremes, repeated, writeColumns, type StagedColumn } from './staged-columns.ts';

let directory: string;
let database: DuckDb;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parquet-'));
  database = await openDuckDb(':memory:', { directory, memoryBytes: 1024 * 1024 * 1024 });
});

afterAll(async () => {
  database.close();
  await rm(directory, { recursive: true, force: true });
});

/** Rows of ours that DuckDB does not have at the same place, and types that differ. */
async function differences(
  name: string,
  columns: readonly StagedColumn[],
  types: readonly string[],
): Promise<unknown[]> {
  const csv = encodedRows(columns, 'csv');
  const path = join(directory, `${name}.csv`);
  await writeFile(path, csv);
  const values = columns.map(
    ({ type, name: column }, at) => `${stagedValue(stagedColumn(at), type, types[at]!)} AS "${column}"`,
  );
  const staged = stagedRows({ path, columnCount: columns.length, longestRowBytes: csv.length });
  const theirs = `SELECT true AS there, ${values.join(', ')} FROM ${staged}`;
  const ours = `SELECT true AS there, * FROM '${join(directory, `${name}.parquet`)}'`;
  const compared = ['there', ...columns.map((column) => column.name)].map(
    (column) => `(t."${column}"::VARCHAR IS DISTINCT FROM o."${column}"::VARCHAR)`,
  );
  const rows = await database.read(
    `SELECT * FROM (${theirs}) t POSITIONAL JOIN (${ours}) o WHERE ${compared.join(' OR ')} LIMIT 5`,
  );
  const described = await database.read<{ column_type: string }>(`DESCRIBE ${ours}`);
  const found = described.slice(1).map(({ column_type: type }) => type);
  return found.join() === types.join() ? rows : [...rows, found];
}

it.each(extremes)('$name, alone', async (column) => {
  const { file } = await writeColumns(directory, column.name, [column]);
  expect(await differences(column.name, [column], file.types)).toEqual([]);
});

it.each([true, false])('all types, over pages (differences of numbers: %s)', async (deltas) => {
  const columns = repeated(extremes, 21_000);
  const { file } = await writeColumns(directory, 'all', columns, {}, deltas);
  expect(await differences('all', columns, file.types)).toEqual([]);
});

it('rows over row groups', async () => {
  const columns = repeated(
    extremes.filter(({ name }) => ['bigint', 'decimal9', 'text', 'integers'].includes(name)),
    130_000,
  );
  const { file } = await writeColumns(directory, 'many', columns);
  expect(await differences('many', columns, file.types)).toEqual([]);
  const groups = await database.read<{ rows: bigint }>(
    `SELECT row_group_num_rows AS rows FROM parquet_metadata('${join(directory, 'many.parquet')}') WHERE column_id = 0`,
  );
  expect(groups.map(({ rows }) => Number(rows))).toEqual([122_880, 7_120]);
});

it('random values of many digits, and few that come again', async () => {
  let state = 0x2545f491;
  const pick = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  const digits = (most: number): string =>
    Array.from({ length: 1 + pick(most) }, () => String(pick(10))).join('');
  const sign = (): string => (pick(3) === 0 ? '-' : '');
  const column = (name: string, type: StagedColumn['type'], make: () => string): StagedColumn => ({
    name,
    type,
    values: Array.from({ length: 21_000 }, () => (pick(20) === 0 ? null : make())),
  });
  const columns: StagedColumn[] = [
    column('bigint', { kind: 'bigint' }, () => `${sign()}${digits(18)}`),
    column('key', { kind: 'bigint' }, () => String(pick(1_000_000))),
    column('numeric', { kind: 'numeric' }, () => `${sign()}${digits(20)}.${digits(18)}`),
    column('price', { kind: 'numeric' }, () => `${pick(500)}.${pick(100)}`),
    column(
      'wide',
      { kind: 'numeric', precision: 38, scale: 12 },
      () => `${sign()}${digits(26)}.${digits(12)}`,
    ),
    column('real', { kind: 'real' }, () => `${sign()}${digits(12)}.${digits(12)}e${pick(20) - 10}`),
    column('double', { kind: 'double' }, () => `${sign()}${digits(20)}.${digits(20)}E${sign()}${pick(250)}`),
    column(
      'date',
      { kind: 'date' },
      () => `${1 + pick(9)}${100 + pick(899)}-0${1 + pick(9)}-${10 + pick(18)}`,
    ),
    column(
      'instant',
      { kind: 'timestamptz' },
      () =>
        `2${digits(3).padStart(3, '0')}-1${pick(3)}-2${pick(9)}T1${pick(10)}:0${pick(10)}:59.${digits(9)}Z`,
    ),
    column('unique', { kind: 'text' }, () => `${digits(30)}${'é\\'.repeat(pick(5))}`),
    column('code', { kind: 'text' }, () => `c${pick(3000)}`),
    column(
      'list',
      { kind: 'text', list: true },
      () => `{${Array.from({ length: pick(5) }, () => `"w${pick(50)}"`).join(',')}}`,
    ),
  ];
  const { file } = await writeColumns(directory, 'random', columns);
  expect(await differences('random', columns, file.types)).toEqual([]);
});

/** All numbers of up to so many characters, of some digits and at most one point. */
function shortNumbers(characters: number): string[] {
  let texts = [''];
  const numbers: string[] = [];
  for (let length = 1; length <= characters; length += 1) {
    texts = texts.flatMap((text) =>
      [...(length > 4 ? '07' : '0179'), ...(text.includes('.') ? '' : '.')].map(
        (character) => `${text}${character}`,
      ),
    );
    numbers.push(...texts.filter((text) => /\d/.test(text)));
  }
  return numbers;
}

it('numbers of few characters, in every form', async () => {
  const numbers = shortNumbers(9).filter((text) => text.length > 7 || text.length < 5);
  const values = numbers.flatMap((text, at) => (at % 9 === 0 ? [text, null, `-${text}`] : [text]));
  const within = (most: RegExp): (string | null)[] =>
    values.map((text) => (text === null || most.test(text) ? text : '0'));
  const column = (name: string, type: StagedColumn['type'], most = /./): StagedColumn => ({
    name,
    type,
    values: within(most),
  });
  const columns = [
    column('scaled', { kind: 'numeric', precision: 18, scale: 4 }, /^-?\d*\.?\d{0,4}$/),
    column('small', { kind: 'numeric', precision: 9, scale: 2 }, /^-?\d{0,7}(\.\d{0,2})?$/),
    column('fraction', { kind: 'numeric', precision: 9, scale: 9 }, /^-?0*\.\d+$/),
    column('wide', { kind: 'numeric', precision: 38, scale: 12 }),
    column('open', { kind: 'numeric' }),
    column('integer', { kind: 'integer' }, /^-?\d+$/),
    column('bigint', { kind: 'bigint' }, /^-?\d+$/),
    column('real', { kind: 'real' }),
    column('double', { kind: 'double' }),
  ];
  const { file } = await writeColumns(directory, 'short', columns);
  expect(await differences('short', columns, file.types)).toEqual([]);
});

/** Columns whose values meet one another in the tables of a dictionary, or nearly. */
function alikeColumns(rows: number): StagedColumn[] {
  const column = (
    name: string,
    type: StagedColumn['type'],
    make: (row: number) => string | null,
  ): StagedColumn => ({
    name,
    type,
    values: Array.from({ length: rows }, (_, row) => make(row)),
  });
  return [
    column('last', { kind: 'text' }, (row) => `AB-${1000 + ((row * 7919) % 9000)}`),
    column('prefixed', { kind: 'text' }, (row) => `urn:example:${'x'.repeat(row % 40)}${(row * 31) % 400}`),
    column('lengths', { kind: 'text' }, (row) => 'a'.repeat(row % 37)),
    column('constant', { kind: 'text' }, () => 'piece'),
    column('late', { kind: 'text' }, (row) => (row < 25_000 ? null : `t${row % 5}`)),
    column('unique', { kind: 'text' }, (row) => `${row * 2_654_435_761}`),
    column('near', { kind: 'integer' }, (row) => String(((row * 37) % 1400) - 700)),
    column('far', { kind: 'bigint' }, (row) => String(BigInt(row % 300) << BigInt(row % 55))),
    column('floats', { kind: 'double' }, (row) => String((row % 512) / 8)),
    column('wide', { kind: 'numeric', precision: 38, scale: 2 }, (row) => `${row % 90}.5`),
    column('days', { kind: 'date' }, (row) => `2026-0${1 + (row % 9)}-1${row % 10}`),
    column('flags', { kind: 'boolean' }, (row) => (row % 3 === 0 ? null : row % 2 === 0 ? 'true' : 'false')),
  ];
}

it('values that are alike, and what the file tells of their bounds', async () => {
  const columns = alikeColumns(70_000);
  const { file } = await writeColumns(directory, 'alike', columns);
  expect(await differences('alike', columns, file.types)).toEqual([]);
  const path = join(directory, 'alike.parquet');
  const told = await database.read<Record<'column' | 'least' | 'greatest' | 'nulls', string>>(
    `SELECT path_in_schema AS "column", stats_min_value AS least, stats_max_value AS greatest, stats_null_count::VARCHAR AS nulls
     FROM parquet_metadata('${path}') WHERE row_group_id = 0 AND path_in_schema <> 'floats' ORDER BY column_id`,
  );
  const rows = `(SELECT * FROM '${path}' LIMIT 70000)`;
  const found = await Promise.all(
    told.map(async ({ column }) => {
      const [bounds] = await database.read<object>(
        `SELECT min("${column}")::VARCHAR AS least, max("${column}")::VARCHAR AS greatest,
         (count(*) - count("${column}"))::VARCHAR AS nulls FROM ${rows}`,
      );
      return { column, ...bounds };
    }),
  );
  expect(told).toEqual(found);
});

it('decimals beyond their usual type get the digits that they need, or are text', async () => {
  const columns: StagedColumn[] = [
    { name: 'deep', type: { kind: 'numeric' }, values: ['0.0000000000000000000000001', '12', null] },
    { name: 'high', type: { kind: 'numeric' }, values: [`${'1'.repeat(38)}`, '-2', null] },
    {
      name: 'both',
      type: { kind: 'numeric' },
      values: [`${'1'.repeat(30)}.${'2'.repeat(20)}`, '1.50', null],
    },
    { name: 'list', type: { kind: 'numeric', list: true }, values: [`{${'1'.repeat(30)},0.25}`, '{}', null] },
  ];
  const { file } = await writeColumns(directory, 'digits', columns);
  expect(file.types).toEqual(['DECIMAL(38,25)', 'DECIMAL(38,0)', 'VARCHAR', 'DECIMAL(38,2)[]']);
  expect(await differences('digits', columns, file.types)).toEqual([]);
});

it('columns that became text have what the document says', async () => {
  const columns: StagedColumn[] = [
    { name: 'boolean', type: { kind: 'boolean' }, values: ['true', 't', 'false', null] },
    { name: 'integer', type: { kind: 'integer' }, values: ['12', '99999999999', 'many', null] },
    { name: 'list', type: { kind: 'integer', list: true }, values: ['{1,2}', 'one two', '{}', null] },
    {
      name: 'texts',
      type: { kind: 'text', list: true, length: 3 },
      values: ['{"a\\"","b"}', 'long', null, '{}'],
    },
  ];
  const widened = new Map(columns.map(({ name }) => [name, { kind: 'text' }] as const));
  const { file } = await writeColumns(directory, 'widened', columns, { widened });
  expect(file.types).toEqual(['VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR']);
  expect(await differences('widened', columns, file.types)).toEqual([]);
});

it('texts of 16 MB, and rows that alone fill what is read at once', async () => {
  const long = `${'x\\y\n'.repeat(4 * 1024 * 1024)}`;
  const columns: StagedColumn[] = [
    { name: 'key', type: { kind: 'bigint' }, values: ['1', '2', '3', '4'] },
    { name: 'long', type: { kind: 'text' }, values: ['short', long, null, `${long.slice(1)}`] },
  ];
  const { file } = await writeColumns(directory, 'long', columns);
  expect(await differences('long', columns, file.types)).toEqual([]);
});

it.each([
  [true, 'DELTA_LENGTH_BYTE_ARRAY'],
  [false, 'PLAIN'],
])('texts that hardly come again (differences of numbers: %s) are %s', async (deltas, encoding) => {
  const texts = Array.from({ length: 50_000 }, (_, row) =>
    row % 91 === 0 ? null : row % 89 === 0 ? '' : `${'é\\\t'.repeat(row % 40)}${row * 7919}`,
  );
  const columns: StagedColumn[] = [{ name: 'text', type: { kind: 'text' }, values: texts }];
  const { file } = await writeColumns(directory, 'texts', columns, {}, deltas);
  expect(await differences('texts', columns, file.types)).toEqual([]);
  const [chunk] = await database.read<{ encodings: string }>(
    `SELECT encodings FROM parquet_metadata('${join(directory, 'texts.parquet')}')`,
  );
  expect(chunk!.encodings.split(', ')).toContain(encoding);
});

it('a table without rows', async () => {
  const columns: StagedColumn[] = [{ name: 'a', type: { kind: 'integer', list: true }, values: [] }];
  const { file } = await writeColumns(directory, 'none', columns);
  expect(await differences('none', columns, file.types)).toEqual([]);
});

it('a value that its type does not hold is a fault, never another value', async () => {
  for (const [kind, value] of [
    ['integer', '2147483648'],
    ['boolean', 'yes'],
    ['date', '2026-01-1'],
    ['bigint', '12a'],
  ] as const) {
    const columns: StagedColumn[] = [{ name: 'a', type: { kind }, values: ['1', value] }];
    await expect(writeColumns(directory, `fault-${kind}`, columns)).rejects.toThrow('does not hold');
  }
});

it('tells bounds and NULLs of whole numbers and days', async () => {
  const columns: StagedColumn[] = [
    { name: 'n', type: { kind: 'bigint' }, values: ['5', null, '-9223372036854775808'] },
    { name: 'd', type: { kind: 'date' }, values: ['1969-12-31', '2026-01-01', null] },
    { name: 'none', type: { kind: 'integer' }, values: [null, null, null] },
  ];
  const { facts } = await writeColumns(directory, 'facts', columns);
  expect(facts).toEqual([
    { nulls: 1, least: -9223372036854775808n, greatest: 5n },
    { nulls: 1, least: -1n, greatest: 20454n },
    { nulls: 3, least: null, greatest: null },
  ]);
});
