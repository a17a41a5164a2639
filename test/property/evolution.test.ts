/** Versions of random XSDs, each model made with the names of the one before: what a name stands for never changes. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../src/engine/map/prune.ts';
import { coversModel } from '../../src/engine/model/coverage.ts';
import type { MapLevel, RelationalModel } from '../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../src/engine/model/source-model.ts';
import { compareXml } from '../support/documents/canonical-xml.ts';
import { memoryDocumentRows } from '../support/memory/document-rows.ts';
import { expectSameMeanings } from '../support/models/name-meanings.ts';
import { writeDocuments } from '../support/round-trip/in-memory.ts';
import { bytesOf, compiled, shred, statisticsOf, type Row } from '../support/models/shredding.ts';
import { mapLevels } from './loading.ts';
import { versionCases, type SchemaVersion } from './schemas/versions.ts';
import { holds, propertyTimeoutMs } from './choices/settings.ts';

interface Version {
  readonly source: SourceModel;
  readonly model: RelationalModel;
  readonly documents: readonly string[];
}

type Change = (source: SourceModel, version: SchemaVersion, at: number) => SourceModel;

const pruneEveryOther: Change = (source, { documents }, at) =>
  at % 2 === 0 ? source : pruneSourceModel(source, statisticsOf(documents));

function modelsOf(
  versions: readonly SchemaVersion[],
  mapLevel: MapLevel,
  change: Change = (source) => source,
): Version[] {
  const all: Version[] = [];
  for (const [at, version] of versions.entries()) {
    const source = change(compiled(version.xsd), version, at);
    const previous = all.at(-1)?.model;
    const model = buildRelationalModel(source, {
      mapLevel,
      ...(previous === undefined ? {} : { previous }),
    });
    all.push({ source, model, documents: version.documents });
  }
  return all;
}

function pairsOf<Item>(items: readonly Item[]): (readonly [Item, Item])[] {
  return items.flatMap((first, at) => items.slice(at + 1).map((second) => [first, second] as const));
}

/** Of each row that says which element it is (attribute `p`): the columns that have something; of a key, the table it leads to. */
function contentOf(model: RelationalModel, document: string): Map<string, Map<string, string>> {
  const { rows } = shred(model, [document]);
  const content = new Map<string, Map<string, string>>();
  for (const { name, path, columns } of model.tables) {
    const own = columns.find((column) => column.role === 'value' && column.path === `${path}/@p`);
    if (own === undefined) continue;
    for (const row of rows[name] ?? []) {
      const filled = columns.flatMap((column) => {
        const value = (row as Row)[column.name] ?? null;
        if (value === null || structure.has(column.role)) return [];
        const isKey = column.role === 'parent_key' || column.role === 'child_key';
        const parent = isKey ? model.tables[column.references!]!.name : null;
        return [[column.name, parent === null ? value : `${leadsTo} ${parent} (${column.role})`] as const];
      });
      content.set(`${name} ${row[own.name]}`, new Map(filled));
    }
  }
  return content;
}

const structure: ReadonlySet<string> = new Set(['row_key', 'document', 'position', 'folded_position']);
const leadsTo = 'row of';

function columnsOf({ tables }: RelationalModel): Set<string> {
  return new Set(tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)));
}

function parentsIn(columns: ReadonlyMap<string, string>): string {
  return [...columns.values()]
    .filter((value) => value.startsWith(leadsTo))
    .toSorted()
    .join();
}

/** Rows of one document in both models: where a table has the row in both, a column of both has the same there. */
function expectSameContent(a: RelationalModel, b: RelationalModel, document: string): void {
  const [inA, inB] = [columnsOf(a), columnsOf(b)];
  const contentB = contentOf(b, document);
  for (const [row, columns] of contentOf(a, document)) {
    const other = contentB.get(row);
    if (other === undefined) continue;
    const table = row.slice(0, row.indexOf(' '));
    const hasMoved = parentsIn(columns) !== parentsIn(other);
    for (const name of new Set([...columns.keys(), ...other.keys()])) {
      // the way from the row above, which is another row now
      if (name === 'role' && hasMoved) continue;
      const place = `${table}.${name}`;
      if (!inA.has(place) || !inB.has(place)) continue;
      const values = [columns.get(name), other.get(name)];
      const parent = values.find((value) => value?.startsWith(leadsTo) === true);
      // a row whose parent lies in another table now hangs from that
      if (parent !== undefined && ![columns, other].every((all) => [...all.values()].includes(parent)))
        continue;
      // what a model does not know is kept beside its rows
      const isKept = parent === undefined && values.includes(undefined);
      if (!isKept) expect(values[1], `${row}: ${name}`).toBe(values[0]);
    }
  }
}

/** By path of elements that have rows: the tables that these lie in. */
function tablesOf({ model, documents }: Pick<Version, 'model' | 'documents'>): Map<string, Set<string>> {
  const tables = new Map<string, Set<string>>();
  for (const document of documents)
    for (const row of contentOf(model, document).keys()) {
      const [table, path] = [
        row.slice(0, row.indexOf(' ')),
        row.slice(row.indexOf(' ') + 1, row.indexOf('#')),
      ];
      tables.set(path, (tables.get(path) ?? new Set()).add(table));
    }
  return tables;
}

/** What has the same path lies in the same table, whatever its type is called, and whatever else is of it. */
function expectSameTables(before: Version, after: Version): void {
  const earlier = tablesOf(before);
  for (const documents of [before.documents, after.documents])
    for (const [path, tables] of tablesOf({ model: after.model, documents })) {
      const known = earlier.get(path);
      if (known !== undefined) expect([...known], path).toEqual(expect.arrayContaining([...tables]));
    }
}

/** What one model wrote, read by another that says that it covers it, is the documents again. */
async function expectReadable(reading: Version, written: Version): Promise<void> {
  if (!coversModel(reading.model, written.model)) return;
  const shredded = shred(written.model, written.documents);
  const rows = memoryDocumentRows({
    ...shredded,
    model: reading.model,
    // columns that came later are empty
    rows: Object.fromEntries(
      Object.entries(shredded.rows).map(([table, all]) => {
        const columns = reading.model.tables.find(({ name }) => name === table)?.columns ?? [];
        const empty = Object.fromEntries(columns.map(({ name }) => [name, null]));
        return [table, all.map((row) => ({ ...empty, ...row }))];
      }),
    ),
    unconvertedValues: [],
  });
  const keys = written.documents.map((_, at) => String(at + 1));
  const texts = await writeDocuments(reading.model, rows, keys);
  for (const [at, document] of written.documents.entries())
    expect(compareXml(bytesOf(document), texts[at]!, { source: written.source, asText: true })).toEqual([]);
}

describe('names over versions', { timeout: propertyTimeoutMs }, () => {
  it('stand for the same in every version, and rows are read by whatever model covers them', async () => {
    await holds(
      versionCases(),
      async ({ versions }) => {
        for (const mapLevel of mapLevels) {
          const all = modelsOf(versions, mapLevel);
          for (const [before, after] of pairsOf(all)) {
            expectSameMeanings(before.model, after.model);
            expectSameTables(before, after);
            for (const document of [...before.documents, ...after.documents])
              expectSameContent(before.model, after.model, document);
            await expectReadable(after, before);
            await expectReadable(before, after);
          }
        }
      },
      { runs: 40 },
    );
  });

  it('stand for the same when models are pruned now and then', async () => {
    await holds(
      versionCases(),
      ({ versions }) => {
        for (const mapLevel of mapLevels) {
          const all = modelsOf(versions, mapLevel, pruneEveryOther);
          for (const [before, after] of pairsOf(all)) {
            expectSameMeanings(before.model, after.model);
            for (const document of after.documents) expectSameContent(before.model, after.model, document);
          }
        }
      },
      { runs: 20 },
    );
  });

  it('are kept where nothing changed', async () => {
    await holds(
      versionCases(),
      ({ versions }) => {
        for (const mapLevel of mapLevels) {
          const [first] = modelsOf(versions, mapLevel);
          const again = (previous: RelationalModel): RelationalModel =>
            buildRelationalModel(first!.source, { mapLevel, previous });
          expect(again(first!.model)).toEqual(first!.model);
        }
      },
      { runs: 20 },
    );
  });
});
