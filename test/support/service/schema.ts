/** What the service says of a schema, and whether a target is what it says. */
import { expect } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareWithDocuments, countFacts, readReferences } from './census.ts';
import type { MappingAnswer, SchemaAnswer, ServiceClient } from './client.ts';
import type { FixtureDocument } from './fixtures.ts';

export interface SchemaView {
  readonly schema: SchemaAnswer;
  readonly mapping: readonly MappingAnswer[];
}

export async function readSchema(
  client: ServiceClient,
  idSch: number,
  idLschma?: number,
): Promise<SchemaView> {
  const query = idLschma === undefined ? '' : `?id_lschma=${idLschma}`;
  return {
    schema: await client.get<SchemaAnswer>(`/v2/schema/${idSch}${query}`),
    mapping: await client.get<MappingAnswer[]>(`/v2/mapping/get/${idSch}${query}`),
  };
}

/**
 * Every element and value of the documents is in the target exactly once, nothing else is; every key column of the mapping has
 * a valid foreign key, and NOT NULL stands where the mapping says so.
 */
export async function expectDocumentsIn(
  sql: Sql,
  sqlSchema: string,
  { schema, mapping }: SchemaView,
  documents: readonly FixtureDocument[],
): Promise<void> {
  const input = { mapping, namespaces: schema.namespaces, documents };
  expect(countFacts(input)).toBeGreaterThan(documents.length * 10);
  expect((await compareWithDocuments(sql, sqlSchema, input)).slice(0, 20)).toEqual([]);

  const made = await sql<{ table: string; column: string; nullable: boolean }[]>`
    select table_name as table, column_name as column, is_nullable = 'YES' as nullable
      from information_schema.columns where table_schema = ${sqlSchema} and table_name not like ${'\\_%'}`;
  const nullable = new Map(made.map((row) => [`${row.table}.${row.column}`, row.nullable]));
  const present = new Set(made.map(({ table }) => table));
  const columns = mapping.filter((entry) => entry.column_name !== null && present.has(entry.table_name));
  expect(columns.filter((entry) => nullable.get(nameOf(entry)) !== entry.nullable).map(nameOf)).toEqual([]);

  const references = await readReferences(sql, sqlSchema);
  const enforced = references.map((reference) => `${reference.table}.${reference.column}`);
  expect(references.filter(({ validated }) => !validated)).toEqual([]);
  expect(
    columns.filter((entry) => entry.key === 'FK' && !enforced.includes(nameOf(entry))).map(nameOf),
  ).toEqual([]);

  const loaded = await sql<{ name: string }[]>`select name from ${sql(sqlSchema)}._documents`;
  expect(loaded.map(({ name }) => name).toSorted()).toEqual(documents.map(({ name }) => name).toSorted());
  expect(await sql`select * from ${sql(sqlSchema)}._unmapped`.catch(() => [])).toEqual([]);
}

function nameOf(entry: MappingAnswer): string {
  return `${entry.table_name}.${entry.column_name}`;
}

/** Tables of a SQL schema, those beside the data too; empty where there is no such schema. */
export async function tablesOf(sql: Sql, sqlSchema: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = ${sqlSchema} order by 1`;
  return rows.map(({ name }) => name);
}

/** Staging that a job left behind, in any schema. */
export async function leftovers(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname like ${'\\_svc\\_%'}
    union all select relname from pg_class where relname like ${'\\_svc\\_%'} and relkind = 'r'`;
  return rows.map(({ name }) => name);
}
