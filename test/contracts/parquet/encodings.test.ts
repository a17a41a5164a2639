/** What Parquet files are encoded with: what every reader knows where warehouses load them, and what makes them smaller elsewhere. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFolderRowSink, createObjectFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import { createMemoryFileStore, objectsIn } from '../../support/memory/files.ts';
import { bytesOf, compiled } from '../../support/models/shredding.ts';
import { loadInto } from '../../support/round-trip/postgres.ts';

/** Apache Parquet format, Encodings: those that writers of version 1 have, by DuckDB's names. */
const ofVersion1 = new Set(['PLAIN', 'RLE', 'RLE_DICTIONARY']);
const differences = ['DELTA_BINARY_PACKED', 'DELTA_LENGTH_BYTE_ARRAY'];

const model = buildRelationalModel(
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="ledger"><xs:complexType><xs:sequence><xs:element name="entry" maxOccurs="unbounded"><xs:complexType>
      <xs:sequence><xs:element name="note" type="xs:string"/></xs:sequence>
      <xs:attribute name="number" type="xs:int"/><xs:attribute name="open" type="xs:boolean"/>
      <xs:attribute name="amount" type="xs:decimal"/><xs:attribute name="at" type="xs:dateTime"/><xs:attribute name="rate" type="xs:double"/>
    </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`),
  { mapLevel: 3 },
);
const entries = Array.from(
  { length: 3000 },
  (_, at) =>
    `<entry number="${100_000 + at * 7}" open="${at % 2 === 0}" amount="${at}.25" at="2026-01-01T00:${String(at % 60).padStart(2, '0')}:00Z" rate="${at / 7}"><note>the note of entry ${(at * 2_654_435_761) % 4_294_967_296}</note></entry>`,
);
const document = bytesOf(`<ledger>${entries.join('')}</ledger>`);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'encodings-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Reading {
  readonly encodings: ReadonlySet<string>;
  readonly rows: string;
}

/** All encodings of the files that match, and the content of the entries. */
async function reading(files: string, entriesFile: string): Promise<Reading> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const listed = await connection.runAndReadAll(
      `SELECT DISTINCT unnest(string_split(encodings, ', ')) FROM parquet_metadata('${files}')`,
    );
    const rows = await connection.runAndReadAll(
      `SELECT count(*), sum(number), count(*) FILTER (WHERE open), sum(amount), max("at")::VARCHAR, sum(length(note)) FROM '${entriesFile}'`,
    );
    return {
      encodings: new Set(listed.getRowsJson().map(([name]) => String(name))),
      rows: JSON.stringify(rows.getRowsJson()),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function load(sink: RowSink): Promise<void> {
  await loadInto(sink, { model, idJob: 1 }, [document]);
}

/** Of the folder on the disk. */
async function onDisk(name: string, deltas?: boolean): Promise<Reading> {
  const directory = join(folder, name);
  await load(
    createFolderRowSink({ directory, format: 'parquet', ...(deltas === undefined ? {} : { deltas }) }),
  );
  return reading(join(directory, '*.parquet'), join(directory, 'entry.parquet'));
}

/** Of a folder in a store, whose files are taken out of it to be read. */
async function inStore(name: string, deltas?: boolean): Promise<Reading> {
  const files = createMemoryFileStore();
  const sink = createObjectFolderRowSink({
    location: 's3://lake/ledgers',
    objects: objectsIn(files),
    prefix: '1/out/',
    label: 'out',
    format: 'parquet',
    jobMark: '1',
    scratch: join(folder, 'staging'),
    lock: async () => ({ isHeld: async () => true, release: async () => undefined }),
    ...(deltas === undefined ? {} : { deltas }),
  });
  await load(sink);
  for await (const file of files.listFiles('/memory/1/out'))
    if (file.name.endsWith('.parquet')) {
      const content = await new Response(await files.read(`/memory/1/out/${file.name}`)).arrayBuffer();
      await writeFile(join(folder, `${name}.${file.name}`), new Uint8Array(content));
    }
  return reading(join(folder, `${name}.*.parquet`), join(folder, `${name}.entry.1.parquet`));
}

/** Of tables of Delta Lake, or of Iceberg. */
async function inTables(name: string, format: 'delta' | 'iceberg', deltas?: boolean): Promise<Reading> {
  const directory = join(folder, name);
  const target = diskLake({ directory });
  await load(createLakeRowSink({ target, format, ...(deltas === undefined ? {} : { deltas }) }));
  return reading(join(directory, '**/*.parquet'), join(directory, 'entry/**/*.parquet'));
}

test('files on a disk have differences, and none where version 1 is asked for', async () => {
  const usual = await onDisk('usual');
  expect([...usual.encodings]).toEqual(expect.arrayContaining(differences));
  const first = await onDisk('first', false);
  expect(first.encodings.isSubsetOf(ofVersion1)).toBe(true);
  expect(first.rows).toBe(usual.rows);
});

test('files in a store have none, and those where version 2 is asked for', async () => {
  const usual = await inStore('usual');
  expect(usual.encodings.isSubsetOf(ofVersion1)).toBe(true);
  const second = await inStore('second', true);
  expect([...second.encodings]).toEqual(expect.arrayContaining(differences));
  expect(second.rows).toBe(usual.rows);
});

test('tables of Delta Lake have differences unless version 1 is asked for, those of Iceberg have none', async () => {
  const delta = await inTables('delta', 'delta');
  expect([...delta.encodings]).toEqual(expect.arrayContaining(differences));
  const first = await inTables('delta-first', 'delta', false);
  const iceberg = await inTables('iceberg', 'iceberg');
  for (const { encodings, rows } of [first, iceberg]) {
    expect(encodings.isSubsetOf(ofVersion1)).toBe(true);
    expect(rows).toBe(delta.rows);
  }
});
