/** Folders of workbooks: what every row sink must do, and what is theirs alone. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TargetManifest } from '../../../src/targets/files/folder/manifest.ts';
import { createFolderRowSink, createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { readZip } from '../../support/read-zip.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../targets/library-rows.ts';
import { everyRowSink } from './contract.ts';
import type { TargetReader, TextRow } from './readers.ts';

let folders = '';
beforeAll(async () => {
  folders = await mkdtemp(join(tmpdir(), 'workbooks-'));
});
afterAll(() => rm(folders, { recursive: true, force: true }));

describe('a folder of xlsx', () =>
  everyRowSink((name) => {
    const directory = join(folders, name);
    return {
      createSink: () => createFolderRowSink({ directory, format: 'xlsx' }),
      reader: workbookReader(directory),
      list: () => readdir(directory).catch(() => []),
    };
  }));

test('a load with more rows than a sheet holds ends with the first row too many, and publishes nothing', async () => {
  const directory = join(folders, 'many rows');
  const sink = createFolderRowSink({ directory, format: 'xlsx' });
  await sink.open(libraryPlan(1));
  const row = new TextEncoder().encode('1\t1\n');
  await sink.write(at.note, row, 1_048_575);
  await expect(sink.write(at.note, row, 1)).rejects.toThrow(
    /^table note: there are more than 1048575 rows, .*Load fewer documents at once/,
  );
  await sink.abort();
  await sink.close();
  expect(await readdir(directory).catch(() => [])).toEqual([]);
});

test('a table with more columns than a sheet holds is refused with its first row', async () => {
  const wide = libraryModel.tables.map((table, index) =>
    index === at.note
      ? {
          ...table,
          columns: Array.from({ length: 16_385 }, (_, column) => ({
            ...table.columns.at(-1)!,
            name: `c${column}`,
          })),
        }
      : table,
  );
  const sink = createFolderRowSink({ directory: join(folders, 'many columns'), format: 'xlsx' });
  await sink.open(libraryPlan(1, { model: { ...libraryModel, tables: wide } }));
  await expect(sink.write(at.note, new Uint8Array(0), 0)).rejects.toThrow(
    'table note: it has 16385 columns, but a sheet holds only 16384. Use -f csv or -f parquet.',
  );
  await sink.close();
});

test('a workbook may be called as a table is, and a file of somebody else stays', async () => {
  const directory = join(folders, 'names');
  const named = { schemaName: async () => 'book' };
  const load = async (job: number): Promise<void> => {
    const sink = createFolderRowSink({ directory, format: 'xlsx' });
    try {
      await loadLibrary(sink, libraryPlan(job, named), 1);
    } finally {
      await sink.close();
    }
  };
  await load(1);
  expect((await readdir(directory)).toSorted()).toEqual(['book.xlsx', 'manifest.json']);
  await writeFile(join(directory, 'book.2.xlsx'), 'mine');
  await expect(load(2)).rejects.toThrow('book.2.xlsx exists and was not written by a job');
  expect(await readFile(join(directory, 'book.2.xlsx'), 'utf8')).toBe('mine');
});

test('a bucket has the workbooks and the manifest, and those of an overwrite alone after it', async () => {
  const files = createMemoryFileStore();
  const names = async (): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of files.listFiles('/memory/1/out')) found.push(name);
    return found.toSorted();
  };
  const load = async (job: number, saveMode: 'append' | 'overwrite'): Promise<void> => {
    const sink = createObjectFolderRowSink({
      location: 's3://lake/library',
      objects: objectsIn(files),
      prefix: '1/out/',
      label: 'out',
      format: 'xlsx',
      jobMark: String(job),
      scratch: join(folders, 'staging'),
      lock: async () => ({ isHeld: async () => true, release: async () => undefined }),
    });
    await sink.open(libraryPlan(job, { saveMode, schemaName: async () => 'library' }));
    const rows = libraryRows(job, 1);
    await writeLibrary(sink, rows);
    await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
  };
  await load(1, 'append');
  await load(2, 'append');
  expect(await names()).toEqual(['library.1.xlsx', 'library.2.xlsx', 'manifest.json']);
  await load(3, 'overwrite');
  expect(await names()).toEqual(['library.3.xlsx', 'manifest.json']);
});

const epochDay = 25_569;
/** How the styles of moments write them, by their number in the workbook. */
const moments: Readonly<Record<string, (iso: string) => string>> = {
  4: (iso) => iso.slice(0, 10),
  5: (iso) => iso.slice(0, 19),
  6: (iso) => iso.slice(0, 23),
  7: (iso) => `${iso.slice(0, 19)}Z`,
  8: (iso) => iso,
  9: (iso) => iso.slice(11, 19),
  10: (iso) => iso.slice(11, 23),
};

/** Values as text, as CSV has them. */
function workbookReader(directory: string): TargetReader {
  return {
    read: async (table) => {
      const text = await readFile(join(directory, 'manifest.json'), 'utf8').catch(() => null);
      const listed =
        text === null
          ? undefined
          : (JSON.parse(text) as TargetManifest).tables.find(({ name }) => name === table);
      if (listed === undefined) return null;
      const rows: TextRow[] = [];
      for (const { name, sheet, columns, rows: count } of listed.files) {
        const parts = await readZip(await readFile(join(directory, name)));
        const sheets = [...parts.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)];
        const index = sheets.findIndex(([, one]) => unescaped(one!) === sheet);
        const xml = parts.get(`xl/worksheets/sheet${index + 1}.xml`)!;
        const [heading, ...records] = [...xml.matchAll(/<row r="\d+">(.*?)<\/row>/gs)].map(([, cells]) =>
          valuesOf(cells!),
        );
        if (records.length !== count) throw new Error(`${name}: ${records.length} rows of ${count}`);
        expect(columns.map((_, column) => heading!.get(column))).toEqual(columns);
        for (const record of records)
          rows.push(Object.fromEntries(columns.map((column, place) => [column, record.get(place) ?? null])));
      }
      const key = listed.files[0]!.columns[0]!;
      return rows.toSorted((a, b) => Number(a[key]) - Number(b[key]));
    },
  };
}

function valuesOf(cells: string): Map<number, string> {
  const found = [...cells.matchAll(/<c r="([A-Z]+)\d+" s="(\d+)"(?: t="(\w+)")?>(.*?)<\/c>/gs)];
  return new Map(
    found.map(([, letters, style, type, content]) => {
      const column = [...letters!].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
      const value = content!.replace(/^<is><t xml:space="preserve">|^<v>|<\/t><\/is>$|<\/v>$/g, '');
      if (type === 'inlineStr') return [column, unescaped(value)];
      if (type === 'b') return [column, value === '1' ? 'true' : 'false'];
      const moment = moments[style!];
      if (moment === undefined) return [column, value];
      const days = Number(value) < 1 ? Number(value) : Number(value) - epochDay;
      return [column, moment(new Date(Math.round(days * 86_400_000)).toISOString())];
    }),
  );
}

function unescaped(text: string): string {
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#13': '\r' };
  return text
    .replaceAll(/&([a-z]+|#13);/g, (_, name: string) => entities[name]!)
    .replaceAll(/_x([0-9A-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
