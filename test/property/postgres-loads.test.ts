/** Random documents through a real PostgreSQL: its tables, keys and values. */
import { beforeAll, describe, expect, it } from 'vitest';
import { renderDdl } from '../../src/engine/sql/ddl.ts';
import type { RelationalModel } from '../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../src/engine/model/source-model.ts';
import { postgresReader } from '../contracts/row-sinks/readers.ts';
import { canonicalValue } from '../contracts/targets/values.ts';
import { compareXml } from '../support/documents/canonical-xml.ts';
import type { TestDatabase } from '../support/servers/postgres.ts';
import { loadIntoPostgres, readFromPostgres, type PostgresLocation } from '../support/round-trip/postgres.ts';
import { bytesOf, compiled, inferred, modelOf, shred, type Row } from '../support/models/shredding.ts';
import { useTrial } from '../support/service/trial.ts';
import { deviate } from './documents/deviations.ts';
import { mapLevels, modelFor } from './loading.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';
import { treeCases } from './choices/tree-cases.ts';
import { xsdCases } from './xsd/cases.ts';

const trial = useTrial();
let database: TestDatabase;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

let schemas = 0;

/** A schema of its own, gone afterwards. */
async function inSchema(check: (place: PostgresLocation) => Promise<void>): Promise<void> {
  const place = { url: database.url, sqlSchema: `random_${(schemas += 1)}` };
  try {
    await check(place);
  } finally {
    for (const name of [place.sqlSchema, `${place.sqlSchema}_ddl`]) {
      await database.sql.unsafe(`set client_min_messages = warning; drop schema if exists ${name} cascade`);
    }
  }
}

async function expectDocumentsBack(
  place: PostgresLocation,
  {
    source,
    model,
    documents,
    asText,
  }: { source: SourceModel; model: RelationalModel; documents: readonly string[]; asText: boolean },
): Promise<void> {
  await loadIntoPostgres(place, model, documents.map(bytesOf));
  const written = await readFromPostgres(place, model);
  expect(written).toHaveLength(documents.length);
  for (const [at, document] of documents.entries()) {
    expect(compareXml(document, written[at]!, { source, asText })).toEqual([]);
  }
}

interface ForeignKey {
  readonly table: string;
  readonly parent: string;
  readonly definition: string;
}

/** All that were checked against all rows, as they are when they were made. */
async function foreignKeys(sqlSchema: string): Promise<ForeignKey[]> {
  const rows = await database.sql<ForeignKey[]>`
    select t.relname as table, p.relname as parent, replace(pg_get_constraintdef(k.oid), ${`${sqlSchema}.`}, '') as definition
      from pg_constraint k join pg_class t on t.oid = conrelid join pg_class p on p.oid = confrelid
     where connamespace = ${sqlSchema}::regnamespace and contype = 'f' and convalidated
     order by t.relname collate "C", pg_get_constraintdef(k.oid) collate "C"`;
  return [...rows];
}

/** Every table holds the rows that the engine made for it, value by value. */
async function expectRows(
  place: PostgresLocation,
  model: RelationalModel,
  rows: Readonly<Record<string, readonly Row[]>>,
): Promise<void> {
  const reader = postgresReader(database.sql, place.sqlSchema);
  for (const { name, columns } of model.tables) {
    const [key] = columns.filter(({ role }) => role === 'row_key').map((column) => column.name);
    const canonical = (row: Row): unknown[] =>
      columns.map((column) => canonicalValue(column.type, row[column.name] ?? null));
    const inOrder = (all: readonly Row[]): unknown[][] =>
      all.toSorted((a, b) => Number(a[key!]) - Number(b[key!])).map(canonical);
    expect(inOrder((await reader.read(name)) ?? []), name).toEqual(inOrder(rows[name] ?? []));
  }
}

describe('in PostgreSQL', { timeout: propertyTimeoutMs }, () => {
  it('valid documents of an XSD have tables as the DDL says, foreign keys that hold, and equal values', async () => {
    await holds(
      xsdCases({ extreme: false }),
      async ({ files, documents, trees, choices }) => {
        const source = compiled(files);
        const model = modelFor(
          source,
          choices.pick(mapLevels),
          trees.map(({ name }) => name),
        );
        await inSchema(async (place) => {
          await database.sql.unsafe(renderDdl(model, { sqlSchema: `${place.sqlSchema}_ddl` }));
          await expectDocumentsBack(place, { source, model, documents, asText: false });
          const { rows } = shred(model, documents);
          await expectRows(place, model, rows);
          const all = await foreignKeys(`${place.sqlSchema}_ddl`);
          // tables without rows are not made, nor what would refer to them
          const made = all.filter(({ table, parent }) => table in rows && parent in rows);
          expect(await foreignKeys(place.sqlSchema)).toEqual(made);
        });
      },
      { runs: 12, share: 0.1 },
    );
  });

  it('documents that deviate come back whole', async () => {
    await holds(
      xsdCases({ extreme: true, change: deviate }),
      async ({ files, documents, trees, choices }) => {
        const source = compiled(files);
        const model = modelFor(
          source,
          choices.pick(mapLevels),
          trees.map(({ name }) => name),
        );
        await inSchema((place) => expectDocumentsBack(place, { source, model, documents, asText: false }));
      },
      { runs: 12, share: 0.1 },
    );
  });

  it('documents without an XSD come back with their text', async () => {
    await holds(
      treeCases,
      async ({ documents, choices }) => {
        const source = inferred(documents);
        const model = modelOf(source, choices.pick(mapLevels));
        await inSchema((place) => expectDocumentsBack(place, { source, model, documents, asText: true }));
      },
      { runs: 12, share: 0.1 },
    );
  });
});
