/** Relational models of random XSD sets: names, DDL, and that the same input gives the same model. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { dialectNames } from '../../../src/engine/sql/dialects/every-dialect.ts';
import { renderDdl } from '../../../src/engine/sql/ddl.ts';
import { columnBytes, maxRowBytes } from '../../../src/engine/map/tables/wide-rows.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { fileKeyName, hasOwnPrefix, sideTableNames } from '../../../src/engine/model/side-tables.ts';
import { compiled, shred } from '../../support/models/shredding.ts';
import { expectCompleteCensus, mapLevels, modelFor } from '../loading.ts';
import { holds, propertyTimeoutMs } from '../choices/settings.ts';
import { xsdCases } from './cases.ts';

const maxIdentifierBytes = 63;

function expectGoodNames(names: readonly string[]): void {
  const folded = names.map((name) => name.toLowerCase());
  expect(folded.toSorted().filter((name, at, all) => name === all[at + 1])).toEqual([]);
  expect(
    names.filter((name) => name === '' || new TextEncoder().encode(name).length > maxIdentifierBytes),
  ).toEqual([]);
}

/** Indexes lead somewhere, parents come before their children but for circles, mappings name what is there. */
function expectSound(model: RelationalModel): void {
  for (const [index, table] of model.tables.entries()) {
    for (const { role, references, name } of table.columns) {
      if (role === 'row_key') expect(references ?? undefined).toBe(table.continues);
      else if (role === 'parent_key' || role === 'child_key')
        expect(model.tables[references!], `${table.name}.${name}`).toBeDefined();
      else expect(references).toBeNull();
    }
    expect(table.columns.filter(({ role }) => role === 'row_key')).toHaveLength(1);
    expect(hasOwnPrefix(table.name), table.name).toBe(false);
    for (const { role, name } of table.columns)
      expect(name.toLowerCase() === fileKeyName, `${table.name}.${name}`).toBe(role === 'document');
    expect(table.columns.length, String(index)).toBeLessThanOrEqual(maxRowBytes / columnBytes('row_key'));
  }
  // recursion can make tens of thousands
  const lost = model.mappings.filter(({ table, column }) => {
    const columns = model.tables[table]?.columns;
    return columns === undefined || (column !== null && columns[column] === undefined);
  });
  expect(lost).toEqual([]);
}

/** As `toEqual`, which takes seconds for a large model. */
function expectSame(actual: object, expected: object): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

describe('models of XSD sets', { timeout: propertyTimeoutMs }, () => {
  it('are sound, with identifiers that are unique whatever their case, and short enough', async () => {
    await holds(
      xsdCases({ extreme: false }),
      ({ files, trees }) => {
        const source = compiled(files);
        for (const mapLevel of mapLevels) {
          const model = modelFor(
            source,
            mapLevel,
            trees.map(({ name }) => name),
          );
          expectGoodNames([...Object.values(sideTableNames), ...model.tables.map((table) => table.name)]);
          for (const table of model.tables) expectGoodNames(table.columns.map((column) => column.name));
          expectSound(model);
        }
      },
      { runs: 150 },
    );
  });

  it('are the same for the same files', async () => {
    await holds(
      xsdCases({ extreme: false }),
      ({ files, trees }) => {
        const roots = trees.map(({ name }) => name);
        const [first, again] = [compiled(files), compiled(structuredClone(files))];
        expectSame(again, first);
        for (const mapLevel of mapLevels)
          expectSame(modelFor(again, mapLevel, roots), modelFor(first, mapLevel, roots));
      },
      { runs: 80 },
    );
  });

  it('can be written as DDL of every dialect', async () => {
    await holds(
      xsdCases({ extreme: false }),
      ({ files, trees }) => {
        const model = modelFor(
          compiled(files),
          3,
          trees.map(({ name }) => name),
        );
        for (const dialect of dialectNames) {
          const ddl = renderDdl(model, { dialect });
          expect(ddl.match(/CREATE TABLE/g)!.length, dialect).toBeGreaterThan(model.tables.length);
        }
      },
      { runs: 60 },
    );
  });

  it('take every value into the column that its path is mapped to', async () => {
    await holds(
      xsdCases({ extreme: false }),
      ({ files, documents, trees }) => {
        const source = compiled(files);
        for (const mapLevel of mapLevels) {
          const model = modelFor(
            source,
            mapLevel,
            trees.map(({ name }) => name),
          );
          expectCompleteCensus(shred(model, documents), documents);
        }
      },
      { runs: 60 },
    );
  });
});
