/** What the staging tables of a job look like: one for each table of the model, and those beside them. */
import type { KeyIndex } from '../../../../engine/sql/key-indexes.ts';
import type { PhysicalTable } from '../../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { sideTableDefinitions } from '../../../../engine/model/side-tables.ts';
import { unconvertedColumns, unconvertedValues } from './unconverted-values.ts';
import { stagedReferences } from './foreign-keys.ts';
import type { StagingArea } from './area.ts';

/**
 * `mayMove`: whether the staged table of that physical name may become the target's own; then those that it refers to have to, too.
 * `indexes`: those that a table of the model gets beside its keys.
 */
export function defineStaged(
  staging: StagingArea,
  tables: readonly PhysicalTable[],
  mayMove: (name: string) => boolean,
  indexes: (table: number) => readonly KeyIndex[],
): void {
  // what may become the target's own must outlive a crash; what is read once and dropped need not
  const isLogged = ({ name, foreignKeys }: PhysicalTable): boolean =>
    mayMove(name) && foreignKeys.every((key) => mayMove(key.parentTable));
  for (const [index, table] of tables.entries())
    staging.define(index, () => ({
      tableName: table.name,
      columns: table.columns,
      logged: isLogged(table),
      references: isLogged(table) ? stagedReferences(table) : [],
      indexes: isLogged(table) ? indexes(index) : [],
    }));
  for (const side of ['documents', 'unmapped', 'lexical'] as const) {
    const { columns } = sideTableDefinitions[side];
    staging.define(side, () => ({
      columns: columns.map(({ name, type }) => ({ name, sqlType: postgresql.typeName(type) })),
      logged: false,
    }));
  }
  staging.define(unconvertedValues, () => ({ columns: unconvertedColumns, logged: false }));
}
