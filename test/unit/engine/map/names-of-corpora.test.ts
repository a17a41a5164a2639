/** Real sets, pruned and whole: names kept from an earlier model hold what a model without a history puts at the same place. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import { isRoleColumn } from '../../../../src/engine/model/keys.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { readCorpus } from '../../../support/corpus.ts';
import { needs } from '../../../support/needs.ts';
import { emptyModel, expectSameMeanings, meaningsOf } from '../../../support/models/name-meanings.ts';
import { corpusGroups, groupModel, groupSource } from '../../../support/round-trip/corpus.ts';
import { shred, statisticsOf } from '../../../support/models/shredding.ts';

/** documents of a set that are loaded: key columns are compared row by row */
const loaded = 3;

/**
 * By path of the table: its rows, each by what the columns stand for; lists of rows that have nothing are left out, and tables of `apart`, with
 * the keys that lead to them. A key of several uses is the one that the row's role tells.
 */
function rowsByPlace(
  model: RelationalModel,
  documents: readonly Uint8Array[],
  apart: ReadonlySet<string>,
): Map<string, string[]> {
  const { rows } = shred(model, documents);
  const all = new Map<string, string[]>();
  const isApart = ({ path }: { readonly path?: string | null }): boolean => path != null && apart.has(path);
  for (const table of model.tables) {
    const { name, kind, xpath, path, columns } = table;
    const own = rows[name] ?? [];
    if (own.length === 0 || isApart(table)) continue;
    const role = columns.find((column) => column.role === 'element_name')?.name ?? '';
    // paths of tables are those of types where an earlier version had them so: within the rows they are the same
    const places = columns.map((column) => {
      const parent = column.references === null ? null : model.tables[column.references]!;
      const within = column.path?.slice((parent ?? { path }).path!.length);
      return [column, [column.role, parent?.xpath, within].join(' ')] as const;
    });
    const list = own.map((row) =>
      JSON.stringify(
        places
          .flatMap(([column, place]) => {
            const value = row[column.name];
            const leadsTo = column.references === null ? null : model.tables[column.references]!;
            if (value == null || isRoleColumn(column) || (leadsTo !== null && isApart(leadsTo))) return [];
            return [[column.roles === undefined ? place : `${place}/${row[role]}`, value] as const];
          })
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    );
    const key = `${kind} ${xpath}`;
    all.set(key, [...(all.get(key) ?? []), ...list]);
  }
  return all;
}

function rowCount(model: RelationalModel, documents: readonly Uint8Array[]): number {
  return Object.values(shred(model, documents).rows).reduce((sum, rows) => sum + rows.length, 0);
}

describe(
  'names over a model and its pruned one',
  { timeout: 300_000, ...needs(['corpus', 'whole run']) },
  () => {
    // one set of each standard; NeTEx alone takes as long as all others
    const sets = corpusGroups().filter(({ xsd, corpus }) => xsd !== null && corpus !== 'netex');
    const groups = [...Map.groupBy(sets, ({ corpus }) => corpus).values()].map((group) => group.at(-1)!);

    it.each(groups.map((group) => [`${group.corpus} ${group.xsd ?? ''}`, group] as const))(
      'stand for the same: %s',
      (_, group) => {
        const { source } = groupSource(group);
        const documents = group.documents.slice(0, loaded).map((name) => readCorpus(name));
        const whole = groupModel(source, 3, documents);
        const roots = whole.roots.map(({ name }) => name);
        const pruned = pruneSourceModel(source, statisticsOf(documents));
        // no name of it has a history, and what the whole has as tables it has as tables, too
        const before = {
          ...emptyModel(3),
          foldedTables: whole.foldedTables ?? [],
        };
        const fresh = buildRelationalModel(pruned, { mapLevel: 3, roots, previous: before });
        const kept = buildRelationalModel(pruned, { mapLevel: 3, roots, previous: whole, keepSplits: false });
        expectSameMeanings(whole, kept);
        expect(kept.tables.filter(({ continues }) => continues !== undefined)).toHaveLength(
          fresh.tables.filter(({ continues }) => continues !== undefined).length,
        );
        // one table of a type in a model without a history, which has one for each of its places in the whole
        const apart = new Set(whole.typesApart ?? []);
        const [found, expected] = [rowsByPlace(kept, documents, apart), rowsByPlace(fresh, documents, apart)];
        for (const key of found.keys()) if (apart.size > 0 && !expected.has(key)) found.delete(key);
        expect(found).toEqual(expected);
        expect(rowCount(kept, documents)).toBe(rowCount(fresh, documents));
        const again = buildRelationalModel(source, { mapLevel: 3, roots, previous: kept });
        expectSameMeanings(kept, again);
        // all names are those of the model before it was pruned
        const common = expectSameMeanings(whole, again);
        if (!whole.tables.some(({ continues }) => continues !== undefined))
          expect(common).toBe(meaningsOf(whole).size);
      },
    );
  },
);
