/** What the staging tables of a job look like: one for each table of the model, and those beside them. */
import type { KeyIndex } from '../../../../engine/sql/key-indexes.ts';
import type { PhysicalTable } from '../../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { sideTableDefinitions } from '../../../../engine/model/side-tables.ts';
import { unconvertedColumns, unconvertedValues } from './unconverted-values.ts';
import { stagedReferences } from './foreign-keys.ts';
import type { StagingArea } from './area.ts';

/** What may become the target's own. */
interface MayMove {
  /** the staged table of that physical name; then those that it refers to have to, too */
  readonly table: (name: string) => boolean;
  /** that of documents, which with keys of what they hold may have one twice */
  readonly documents: boolean;
}

/**
 * `indexes`: those that a table of the model gets beside its keys.
 */
export function defineStaged(
  staging: StagingArea,
  tables: readonly PhysicalTable[],
  mayMove: MayMove,
  indexes: (table: number) => readonly KeyIndex[],
): void {
  // what may become the target's own must outlive a crash; what is read once and dropped need not
  const isLogged = ({ name, foreignKeys }: PhysicalTable): boolean =>
    mayMove.table(name) && foreignKeys.every((key) => mayMove.table(key.parentTable));
  for (const [index, table] of tables.entries())
    staging.define(index, () => ({
      tableName: table.name,
      columns: table.columns,
      logged: isLogged(table),
      references: isLogged(table) ? stagedReferences(table, mayMove.documents) : [],
      indexes: isLogged(table) ? indexes(index) : [],
    }));
  for (const side of ['documents', 'unmapped', 'lexical'] as const) {
    const { name: tableName, columns } = sideTableDefinitions[side];
    staging.define(side, () => ({
      tableName,
      columns: columns.map(({ name, type, nullable }) => ({
        name,
        sqlType: postgresql.typeName(type),
        nullable,
      })),
      logged: side === 'documents' && mayMove.documents,
    }));
  }
  staging.define(unconvertedValues, () => ({ columns: unconvertedColumns, logged: false }));
}
