/** Finds the rows that references of a view mean if several tables have ids: the table and the key of each. */
import type { MeantIds } from '../model/references.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import type { Dialect } from '../sql/dialect.ts';
import { physicalName } from '../sql/physical-names.ts';
import { selectedIds } from './selected-ids.ts';

export interface MeantRow {
  /** joined to the rows of the view, one to each of them */
  readonly join: string;
  /** expressions: NULL if the document has no such id */
  readonly table: string;
  readonly key: string;
}

export interface MeantRows {
  /** `expressions`: the document's key, and the reference. Returns null if no rows with these ids have their document's key. */
  joined(
    ids: readonly MeantIds[],
    expressions: readonly [documentKey: string, reference: string],
  ): MeantRow | null;
  /** the clause before the SELECT of the view: the ids that its references may mean; empty if none were requested */
  readonly clause: string;
}

/** Documents may have an id twice: the first of its rows counts, by table and key, so that no row of the view is there twice. */
export function meantRows(
  model: RelationalModel,
  { dialect, sqlSchema }: { readonly dialect: Dialect; readonly sqlSchema: string | null },
): MeantRows {
  const taken = new Set(model.tables.map(({ name }) => physicalName(dialect, name).toLowerCase()));
  const named = new Map<string, { readonly name: string; readonly text: string }>();
  let joins = 0;

  function freeName(wanted: string): string {
    let name = physicalName(dialect, wanted);
    while (taken.has(name.toLowerCase())) name += '_';
    taken.add(name.toLowerCase());
    return dialect.quote(name);
  }

  return {
    get clause() {
      return named.size === 0 ? '' : `WITH ${[...named.values()].map(({ text }) => text).join(',\n')}\n`;
    },
    joined(ids, [documentKey, reference]) {
      const { columns, union } = selectedIds(model, ids, { dialect, sqlSchema });
      if (union === '') return null;
      const { documentKey: document, id, tableName, rowKey } = columns;
      // looked up in the indexes of ids for each row, and only if the column is selected; other databases sort the ids once
      const isLookedUp = dialect.looksUpIds === true;
      let known = named.get(union);
      if (known === undefined) {
        const name = freeName('ids_meant');
        const rank = dialect.quote(physicalName(dialect, 'place'));
        const sorted = `SELECT i.*, row_number() OVER (PARTITION BY ${document}, ${id} ORDER BY ${tableName}, ${rowKey}) AS ${rank} FROM (\n${union}\n) i WHERE ${id} IS NOT NULL`;
        const text = isLookedUp
          ? `${name} AS NOT MATERIALIZED (\n${union}\n)`
          : `${name} AS (SELECT * FROM (${sorted}) r WHERE ${rank} = 1)`;
        known = { name, text };
        named.set(union, known);
      }
      joins += 1;
      const alias = `r${joins}`;
      const first = (of: string): string =>
        `(array_agg(i.${of} ORDER BY i.${tableName}, i.${rowKey}))[1] AS ${of}`;
      return {
        join: isLookedUp
          ? `LEFT JOIN LATERAL (SELECT ${first(tableName)}, ${first(rowKey)} FROM ${known.name} i WHERE i.${document} = ${documentKey} AND i.${id} = ${reference}) ${alias} ON true`
          : `LEFT JOIN ${known.name} ${alias} ON ${alias}.${document} = ${documentKey} AND ${alias}.${id} = ${reference}`,
        table: `${alias}.${tableName}`,
        key: `${alias}.${rowKey}`,
      };
    },
  };
}
