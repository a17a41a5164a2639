/** A database with the library as its target, and what tests of the sink do with it. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import {
  createPostgresRowSink,
  type PostgresRowSinkOptions,
} from '../../../../src/targets/sql/postgres/sink.ts';
import type { RelationalModel, Table } from '../../../../src/engine/model/relational-model.ts';
import type { RowSink, SinkPlan } from '../../../../src/ports/row-sink.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../support/servers/postgres.ts';
import { at, libraryModel } from '../../../unit/engine/sql/library-model.ts';
import {
  encodeRows,
  libraryPlan,
  libraryRows,
  loadLibrary,
  writeLibrary,
  type Value,
} from '../../targets/library-rows.ts';

export let database: TestDatabase;
export let schema = '';
let number = 0;
/** A database for the tests of a file, a SQL schema for each of them. */
export function useDatabase(): void {
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(() => {
    schema = `lib_${(number += 1)}`;
  });
}

export function createSink(more: Partial<PostgresRowSinkOptions> = {}): RowSink {
  return createPostgresRowSink({ url: database.url, sqlSchema: schema, createSchema: true, ...more });
}

export async function load(
  plan: SinkPlan,
  count = 1,
  more: Partial<PostgresRowSinkOptions> = {},
): Promise<Awaited<ReturnType<RowSink['publish']>>> {
  const sink = createSink(more);
  try {
    return await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

export function withTables(change: (table: Table, index: number) => Table): RelationalModel {
  return { ...libraryModel, tables: libraryModel.tables.map(change) };
}

export async function constraints(sqlSchema: string): Promise<string[]> {
  const rows = await database.sql<{ text: string }[]>`
    select conrelid::regclass::text || ': ' || pg_get_constraintdef(oid) as text from pg_constraint
     where connamespace = ${sqlSchema}::regnamespace and contype in ('p', 'u', 'f') and convalidated`;
  return rows.map(({ text }) => text.replaceAll(`${sqlSchema}.`, '')).toSorted();
}

/** Names of all constraints, those of NOT NULL too where the server names them. */
export async function constraintNames(sqlSchema: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select conrelid::regclass::text || ': ' || conname as name from pg_constraint where connamespace = ${sqlSchema}::regnamespace`;
  return rows.map(({ name }) => name.replaceAll(`${sqlSchema}.`, '')).toSorted();
}

export async function leftovers(): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname like ${'\\_svc\\_%'}
    union all select relname from pg_class where relname like ${'\\_svc\\_%'} and relkind = 'r'`;
  return rows.map((row) => row.name);
}

/** Rows of one table until `bytes` are written, so that they go over connections of their own. */
export async function writeMany(
  sink: RowSink,
  table: number,
  row: (key: number) => Value[],
  count: number,
): Promise<void> {
  for (let from = 1; from <= count; from += 2000) {
    const rows = Array.from({ length: Math.min(2000, count - from + 1) }, (_, i) => row(from + i));
    await sink.write(table, encodeRows(sink.encoding, rows), rows.length);
  }
}

export const note = 'n'.repeat(200);
export const personRow = (key: number): Value[] => [key, 1, null, key, note, null];
export const textRow = (key: number): Value[] => [key, key, 1, note];
export const groupRow = (key: number): Value[] => [key, 1, null, key, note];

/** A job with 12,000 people. */
export async function append(job: number): Promise<void> {
  const sink = createSink();
  await sink.open(libraryPlan(job));
  const rows = libraryRows(job);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  await writeMany(sink, at.person, personRow, 12_000);
  await sink.publish(async () => true, new Map());
  await sink.close();
}

export function opening(more: Partial<PostgresRowSinkOptions>): Promise<unknown> {
  const sink = createSink(more);
  return sink.open(libraryPlan(1)).finally(() => sink.close());
}

/** The same document again, with the keys it always has; the number of rows that were added. */
export async function publishSame(job: number): Promise<number> {
  const sink = createSink();
  await sink.open(libraryPlan(job, { keys: 'hash' }));
  await writeLibrary(sink, libraryRows(7));
  await sink.writeSide('lexical', encodeRows(sink.encoding, [[1, 'library', 1, 'name', 'x']]), 1);
  const { rows } = await sink.publish(async () => true, new Map());
  await sink.close();
  return Object.values(rows).reduce((sum, count) => sum + count, 0);
}
