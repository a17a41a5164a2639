/** From staged rows to rows of a table that is not its staging table, renamed. */
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { sqlState } from '../../../../adapters/postgres/client/connect.ts';
import { converted } from '../connection/types.ts';
import type { StagedTable } from '../staging/staged-table.ts';
import { dropChecks } from './code-lists.ts';
import { offsetBehind, relation, type PostgresPublication } from './publication.ts';

export interface RowInsertion {
  readonly staged: StagedTable;
  /** by physical table name: what is added to keys */
  readonly offsets: ReadonlyMap<string, number>;
  /** of the staged columns, as `format_type` writes them */
  readonly types: ReadonlyMap<string, string>;
  /** columns of a table that was there before */
  readonly known: ReadonlyMap<string, { readonly type: string }> | undefined;
  /** rows may be there already, and are left out then: to look for each costs half as much again as to insert it */
  readonly repeats: boolean;
}

/** Staged rows of a table that was there before; answers how many came. What the schema wants of values and the rows break is taken off. */
export async function insertRows(
  publication: PostgresPublication,
  index: number,
  { staged, offsets, types, known, repeats }: RowInsertion,
): Promise<number> {
  const { tx } = publication;
  const table = publication.tables[index]!;
  const values = table.columns.map(({ name }, at) => {
    const owner = table.keyOwners.get(name);
    const offset = owner === undefined ? 0 : (offsets.get(owner) ?? 0);
    const value = offset === 0 ? doubleQuoted(name) : `${doubleQuoted(name)} + ${offset}`;
    const type = types.get(name)!;
    const written = offsetBehind(publication, index, at, () => true);
    return converted(value, type, known?.get(name)?.type ?? type, written);
  });
  const columns = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const conflict = repeats ? ' ON CONFLICT DO NOTHING' : '';
  const statement = `INSERT INTO ${relation(publication, table.name)} (${columns}) SELECT ${values.join(', ')} FROM ${staged.relation}${conflict}`;
  for (;;) {
    const checks = publication.target.checks.filter((check) => check.table === table.name);
    try {
      const { count } =
        table.uniqueKeys.length === 0 && checks.length === 0
          ? await tx.unsafe(statement)
          : await tx.savepoint((savepoint) => savepoint.unsafe(statement));
      return count;
    } catch (error) {
      const { constraint_name: constraint } = error as { readonly constraint_name?: string };
      if (sqlState(error) === '23514' && checks.some(({ name }) => name === constraint)) {
        // what documents say is loaded, whatever the schema lists
        await dropChecks(publication, ({ name }) => name === constraint, table.name);
        continue;
      }
      const broken = sqlState(error) === '23505' ? constraint : undefined;
      if (!table.uniqueKeys.some((key) => key.name === broken)) throw error;
      // a natural key is wanted, not demanded
      await tx.unsafe(
        `ALTER TABLE ${relation(publication, table.name)} DROP CONSTRAINT ${doubleQuoted(broken!)}`,
      );
      publication.changes.push(`${table.name}: unique key ${broken} dropped, its values repeat`);
      const { columns: own } = table.uniqueKeys.find((key) => key.name === broken)!;
      publication.brokenKeys.push({ table: table.name, columns: own });
    }
  }
}
