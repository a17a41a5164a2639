/** Where the rows of a document begin in each table, found by following parent keys. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { Sql } from '../../client/connect.ts';

/**
 * By table index, the least row key that this document or one after it can have there; tables without such rows are left out.
 * A child comes after its parent, so the least row whose parent lies in the range begins the child's range.
 *
 * `columnsOf`: quoted names of the columns that exist, by index in the model; `placeOf`: the quoted name of the table.
 */
export async function firstKeys(
  sql: Sql,
  model: RelationalModel,
  documentKey: string,
  columnsOf: (table: number) => ReadonlyMap<number, string>,
  relationOf: (table: number) => string,
): Promise<ReadonlyMap<number, bigint>> {
  const first = new Map<number, bigint>();
  let changed = new Set<number>([-1]);
  while (changed.size > 0) {
    const next = new Set<number>();
    for (const [index, table] of model.tables.entries()) {
      const columns = columnsOf(index);
      const key = columns.get(table.columns.findIndex((column) => column.role === 'row_key'));
      if (key === undefined) continue;
      const conditions: string[] = [];
      for (const [at, { role, references }] of table.columns.entries()) {
        const name = columns.get(at);
        if (name === undefined) continue;
        if (role === 'document' && changed.has(-1)) conditions.push(`${name} >= ${BigInt(documentKey)}`);
        if (references === null) continue;
        // tables before this one may have changed in this very round
        if (changed.has(references) || next.has(references))
          conditions.push(`${name} >= ${first.get(references)}`);
      }
      if (conditions.length === 0) continue;
      const [row] = await sql.unsafe<[{ least: string | null }]>(
        `SELECT min(${key})::text AS least FROM ${relationOf(index)} WHERE ${conditions.join(' OR ')}`,
      );
      const least = row.least === null ? undefined : BigInt(row.least);
      const known = first.get(index);
      if (least === undefined || (known !== undefined && known <= least)) continue;
      first.set(index, least);
      next.add(index);
      // a row's parent key may lie in a table that continues it
      const { continues } = table;
      if (continues === undefined || (first.get(continues) ?? least + 1n) <= least) continue;
      first.set(continues, least);
      next.add(continues);
    }
    changed = next;
  }
  return first;
}
