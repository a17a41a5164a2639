/** Rows of our Parquet files, read without DuckDB, have the values that DuckDB reads, for every type and at the ends of each. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDuckDb, type DuckDb } from '../../../src/targets/sql/duckdb/database.ts';
import { lexicalText } from '../../../src/targets/sql/duckdb/types.ts';
import { createStoredRowsMemory, openStoredRows } from '../../../src/targets/files/folder/parquet-tables.ts';
import type { ParquetFile } from '../../../src/targets/files/parquet/writing.ts';
import type { ClosableBlocks } from '../../../src/targets/rows/table-row-source.ts';
import { cellText } from '../../../src/engine/unshred/rows/values.ts';
import { extremes, repeated, writeColumns, type StagedColumn } from './staged-columns.ts';

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

const scalars = extremes.filter(({ type }) => type.list !== true);

function keyColumn(rows: number, from = 1): StagedColumn {
  const values = Array.from({ length: rows }, (_, row) => String(from + row * 3));
  return { name: 'row_key', type: { kind: 'bigint' }, values };
}

/** Of so many rows as two row groups have, one of 97 without a value. */
function gapped(of: (row: number) => string | null): (string | null)[] {
  return Array.from({ length: 130_000 }, (_, row) => (row % 97 === 0 ? null : of(row)));
}

function storedFile(
  name: string,
  columns: readonly StagedColumn[],
  file: ParquetFile['file'],
  fractions: Readonly<Record<string, number>> = {},
): Parameters<typeof openStoredRows>[0]['files'][number] {
  return {
    path: join(directory, `${name}.parquet`),
    columns: new Map(
      columns.map((column, at) => [
        column.name,
        { sqlType: file.types[at]!, fraction: fractions[column.name] ?? null },
      ]),
    ),
  };
}

function openRows(
  files: Parameters<typeof openStoredRows>[0]['files'],
  wanted: readonly string[],
  blockBytes = 64 * 1024,
  document: bigint | null = null,
): Promise<ClosableBlocks | null> {
  return openStoredRows({
    files,
    key: 'row_key',
    only: document === null ? null : { column: 'document_key', number: document },
    wanted,
    blockBytes,
    label: directory,
    memory: createStoredRowsMemory(),
  });
}

async function rowsOf(blocks: ClosableBlocks | null, width: number): Promise<(string | null)[][]> {
  const rows: (string | null)[][] = [];
  try {
    for (let block = await blocks!.next(); block !== null; block = await blocks!.next())
      for (let row = 0; row < block.rows; row += 1) {
        const at = { bytes: block.bytes, cells: block.cells, at: row * width * 2 };
        rows.push(Array.from({ length: width }, (_, column) => cellText(at, column)));
      }
  } finally {
    await blocks!.close();
  }
  return rows;
}

async function rowsOfDuckDb(
  name: string,
  columns: readonly StagedColumn[],
  types: readonly string[],
  fractions: Readonly<Record<string, number>> = {},
): Promise<(string | null)[][]> {
  const values = columns.map(
    (column, at) =>
      `${lexicalText(`"${column.name}"`, types[at]!, fractions[column.name] ?? null)} AS c${at}`,
  );
  const rows = await database.read<Record<string, string | null>>(
    `SELECT ${values.join(', ')} FROM '${join(directory, `${name}.parquet`)}'`,
  );
  return rows.map((row) => columns.map((_, at) => row[`c${at}`]!));
}

/** Floating-point numbers by what they are worth, as both write them in forms of their own; decimals below 1 with their zero. */
function comparable(rows: readonly (string | null)[][], types: readonly string[]): (string | null)[][] {
  return rows.map((row) =>
    row.map((value, at) => (value === null ? null : comparableText(value, types[at]!))),
  );
}

function comparableText(value: string, type: string): string {
  if (type.endsWith('[]')) {
    const items = value === '' ? [] : value.split(' ');
    return items.map((item) => comparableText(item, type.slice(0, -2))).join(' ');
  }
  if (type === 'FLOAT') return `${Math.fround(numberOf(value))}`;
  if (type === 'DOUBLE') return `${numberOf(value)}`;
  return type.startsWith('DECIMAL') ? value.replace(/^(-?)\./, '$10.') : value;
}

function numberOf(text: string): number {
  return Number(text.replace('INF', 'Infinity'));
}

async function expectSame(
  name: string,
  columns: readonly StagedColumn[],
  { deltas = true, fractions = {} }: { deltas?: boolean; fractions?: Readonly<Record<string, number>> } = {},
): Promise<void> {
  const { file } = await writeColumns(directory, name, columns, {}, deltas);
  const names = columns.map((column) => column.name);
  const ours = await rowsOf(
    await openRows([storedFile(name, columns, file, fractions)], names),
    names.length,
  );
  const theirs = await rowsOfDuckDb(name, columns, file.types, fractions);
  expect(ours.length).toBe(columns[0]!.values.length);
  expect(theirs.length).toBe(ours.length);
  // all of them take the comparison of whole tables long
  const [own, known] = [comparable(ours, file.types), comparable(theirs, file.types)];
  const differing = own.flatMap((row, at) =>
    row.every((value, column) => value === known[at]![column]) ? [] : [[row, known[at]]],
  );
  expect(differing.slice(0, 5)).toEqual([]);
}

it.each(scalars)('$name, alone', async (column) => {
  await expectSame(`alone-${column.name}`, [keyColumn(column.values.length), column]);
});

it.each([true, false])('all types, over pages (differences of numbers: %s)', async (deltas) => {
  await expectSame(`all-${deltas}`, [keyColumn(21_000), ...repeated(scalars, 21_000)], { deltas });
});

it('values that never come again, over row groups', async () => {
  await expectSame('many', [
    keyColumn(130_000, 1_000_000),
    { name: 'text', type: { kind: 'text' }, values: gapped((row) => `text ${row * 7919}`) },
    { name: 'real', type: { kind: 'real' }, values: gapped((row) => `${row / 7}`) },
    { name: 'wide', type: { kind: 'numeric' }, values: gapped((row) => `-${row}.${row % 1000}`) },
    { name: 'jumps', type: { kind: 'bigint' }, values: gapped((row) => `${(row * 7_777_777_777) % 1e15}`) },
    { name: 'flag', type: { kind: 'boolean' }, values: gapped((row) => `${row % 3 === 0}`) },
  ]);
});

it('digits behind the point are those of the model', async () => {
  const values = ['1', '12.50', '-0.5', '100', '0', '3.141', null];
  await expectSame(
    'fractions',
    [
      keyColumn(values.length),
      { name: 'none', type: { kind: 'numeric' }, values: ['1', '12', '-5', '100', '0', '3', null] },
      { name: 'two', type: { kind: 'numeric' }, values },
      { name: 'open', type: { kind: 'numeric' }, values },
    ],
    { fractions: { none: 0, two: 2 } },
  );
});

it('texts of 16 MB', async () => {
  const long = 'x\\y\n'.repeat(4 * 1024 * 1024);
  await expectSame('long', [
    keyColumn(4),
    { name: 'long', type: { kind: 'text' }, values: ['short', long, null, long.slice(1)] },
  ]);
});

function listColumn(
  kind: 'text' | 'integer' | 'double' | 'boolean' | 'date',
  values: (string | null)[],
): StagedColumn {
  return { name: `of_${kind}`, type: { kind, list: true }, values };
}

describe('lists', () => {
  const counts = [0, 1, 2, 7, 300];

  /** Lists of all lengths in turn, every seventh NULL. */
  function listsOf(rows: number, item: (number: number) => string): (string | null)[] {
    return Array.from({ length: rows }, (_, row) => {
      if (row % 7 === 3) return null;
      const count = counts[row % counts.length]!;
      return `{${Array.from({ length: count }, (__, at) => item(row + at)).join(',')}}`;
    });
  }

  it('are the items of a row with a blank between them, whatever their type', async () => {
    const rows = 4000;
    const columns = [
      keyColumn(rows),
      listColumn(
        'text',
        listsOf(rows, (number) => `"w${number % 2000}é"`),
      ),
      listColumn(
        'integer',
        listsOf(rows, (number) => `${number * 7}`),
      ),
      listColumn(
        'double',
        listsOf(rows, (number) => `${number / 8}`),
      ),
      listColumn(
        'boolean',
        listsOf(rows, (number) => (number % 3 === 0 ? 't' : 'f')),
      ),
      listColumn(
        'date',
        listsOf(rows, (number) => `2024-01-${String((number % 28) + 1).padStart(2, '0')}`),
      ),
    ];
    await expectSame('listed', columns);
    await expectSame('listed-differently', columns, { deltas: false });
  });

  it('may be longer than rows that are taken at once, or none', async () => {
    const long = `{${Array.from({ length: 9000 }, (_, at) => at % 5000).join(',')}}`;
    await expectSame('long', [keyColumn(4), listColumn('integer', [long, null, '{}', long])]);
    await expectSame('empty', [keyColumn(3), listColumn('integer', ['{}', null, '{}'])]);
  });
});

describe('several files', () => {
  it('are read one after the other, each with its own columns', async () => {
    const first = [keyColumn(3), { name: 'a', type: { kind: 'text' } as const, values: ['1', null, '3'] }];
    const second = [keyColumn(2, 100), { name: 'b', type: { kind: 'integer' } as const, values: ['4', '5'] }];
    const one = await writeColumns(directory, 'one', first);
    const two = await writeColumns(directory, 'two', second);
    const files = [storedFile('one', first, one.file), storedFile('two', second, two.file)];
    expect(await rowsOf(await openRows(files, ['b', 'row_key', 'a', 'c']), 4)).toEqual([
      [null, '1', '1', null],
      [null, '4', null, null],
      [null, '7', '3', null],
      ['4', '100', null, null],
      ['5', '103', null, null],
    ]);
    expect(await openRows(files.toReversed(), ['row_key'])).toBeNull();
  });

  it('are left to DuckDB where keys do not go up, or another program wrote them', async () => {
    const unordered: StagedColumn = { name: 'row_key', type: { kind: 'bigint' }, values: ['2', '1'] };
    const wrong = await writeColumns(directory, 'unordered', [unordered]);
    expect(await openRows([storedFile('unordered', [unordered], wrong.file)], ['row_key'])).toBeNull();
    await database.run(`COPY (SELECT 1::BIGINT AS row_key) TO '${join(directory, 'theirs.parquet')}'`);
    const columns = new Map([['row_key', { sqlType: 'BIGINT', fraction: null }]]);
    const theirs = { path: join(directory, 'theirs.parquet'), columns };
    expect(await openRows([theirs], ['row_key'])).toBeNull();
  });

  it('that were damaged are a fault that names them, never other rows', async () => {
    const columns = [keyColumn(5000), ...repeated(scalars, 5000)];
    const { file } = await writeColumns(directory, 'whole', columns);
    const bytes = await readFile(join(directory, 'whole.parquet'));
    const names = columns.map((column) => column.name);
    await writeFile(join(directory, 'short.parquet'), bytes.subarray(0, bytes.length - 40));
    await expect(openRows([storedFile('short', columns, file)], names)).rejects.toThrow(
      'short.parquet was changed since it was written',
    );
    const told: unknown[] = [];
    for (let at = 100; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
      const damaged = Buffer.from(bytes);
      damaged.fill(0xa5, at, Math.min(at + 16, bytes.length));
      await writeFile(join(directory, 'damaged.parquet'), damaged);
      const read = openRows([storedFile('damaged', columns, file)], names).then(
        (blocks) => blocks && rowsOf(blocks, names.length),
      );
      await read.catch((error: unknown) => told.push((error as Error).message));
    }
    expect(told.length).toBeGreaterThan(20);
    for (const message of told) expect(message).toContain('damaged.parquet was changed since it was written');
  });
});

const textOf = (row: number): string => `${(row * 7919) % 1_000_003} ${(row * 104_729) % 999_983}`;

describe('rows of one document', () => {
  const count = 300_000;
  const documents = [1n, 2n, 3n, 4n, 1_000_000_000_007n] as const;
  const documentOf = (row: number): bigint => documents[Math.floor((row * documents.length) / count)]!;

  async function staged() {
    const columns: StagedColumn[] = [
      keyColumn(count),
      {
        name: 'document_key',
        type: { kind: 'bigint' },
        values: Array.from({ length: count }, (_, row) => String(documentOf(row))),
      },
      {
        name: 'value',
        type: { kind: 'text' },
        values: Array.from({ length: count }, (_, row) => textOf(row)),
      },
    ];
    const { file } = await writeColumns(directory, 'documents', columns);
    return { columns, stored: storedFile('documents', columns, file) };
  }

  it('are those that have its key, whatever row group they lie in', async () => {
    const { columns, stored } = await staged();
    const wanted = ['value', 'document_key', 'row_key'];
    for (const document of documents) {
      const rows = await rowsOf(await openRows([stored], wanted, 64 * 1024, document), wanted.length);
      const expected = columns[0]!.values.flatMap((key, row) =>
        documentOf(row) === document ? [[textOf(row), String(document), key]] : [],
      );
      expect(rows).toEqual(expected);
    }
    expect(await rowsOf(await openRows([stored], wanted, 64 * 1024, 5n), wanted.length)).toEqual([]);
  });

  it('are read without the row groups that have none', async () => {
    const { stored } = await staged();
    const memory = createStoredRowsMemory();
    let read = 0;
    const { buffers } = memory;
    const take = buffers.take.bind(buffers);
    buffers.take = (bytes: number) => {
      read += bytes;
      return take(bytes);
    };
    const bytesOf = async (document: bigint | null): Promise<number> => {
      read = 0;
      const only = document === null ? null : { column: 'document_key', number: document };
      const options = {
        files: [stored],
        key: 'row_key',
        wanted: ['document_key', 'value'],
        label: directory,
      };
      await rowsOf(await openStoredRows({ ...options, only, blockBytes: 64 * 1024, memory }), 2);
      return read;
    };
    const all = await bytesOf(null);
    expect(await bytesOf(1n)).toBeLessThan(all / 2);
    // of which no row group has some
    expect(await bytesOf(2_000_000_000_000n)).toBeLessThan(all / 10);
  });
});
