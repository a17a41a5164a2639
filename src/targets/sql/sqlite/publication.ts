/** What the steps of a publishing transaction share: connection, plan, staged rows, and the tables as SQLite has them. */
import { randomBytes } from 'node:crypto';
import { withListTables, type ListTable } from '../../../engine/sql/list-tables.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { physicalTables, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { ownPrefix } from '../../../engine/model/side-tables.ts';
import type { MergedDocument, MergeOrder } from '../../../ports/rows/merge.ts';
import type { BrokenKey, SinkPlan } from '../../../ports/rows/sink.ts';
import type { StagedTables } from '../database-files/sink.ts';
import { columnId, type WidenedTypes } from '../../../adapters/row-sinks/unfit-columns.ts';
import { foldedName, type SqliteDb } from './database.ts';
import type { FoundTables } from './tables.ts';
import type { Merging } from '../../../adapters/row-sinks/merging.ts';

/** A model as SQLite has it: the items of lists in tables of their own. */
export interface DrawnModel {
  /** the tables of the job's model under their indexes, then those of lists */
  readonly model: RelationalModel;
  readonly tables: readonly PhysicalTable[];
  readonly lists: readonly ListTable[];
}

/** The documents by `documentIdentity`. */
export type SqliteMerging = Merging<ReadonlyMap<string, MergedDocument>>;

export interface SqlitePublication {
  readonly database: SqliteDb;
  readonly plan: SinkPlan;
  readonly drawn: DrawnModel;
  readonly staged: StagedTables;
  /** NOT NULL columns that some row left empty, and columns with a value that their type cannot hold, as `columnId` names them */
  readonly nullAllowed: ReadonlySet<string>;
  readonly widened: WidenedTypes;
  /** by `columnId`: keys, as they are staged, of rows whose text is none although it looks like a staged value or list */
  readonly textRows: ReadonlyMap<string, ReadonlySet<string>>;
  readonly signal: AbortSignal | undefined;
  /** what is in the file; read anew as statements change it */
  known: FoundTables;
  /** by index in the drawn model: tables that this job makes */
  readonly made: Set<number>;
  /** for the log */
  readonly changes: string[];
  readonly brokenKeys: BrokenKey[];
  readonly indexes: { count: number; seconds: number };
  readonly merge: MergeOrder;
  /** save mode `merge`: what became of documents that were there; null: nothing yet */
  merging: SqliteMerging | null;
}

export function drawModel(model: RelationalModel): DrawnModel {
  const { model: drawn, lists } = withListTables(model, sqlite);
  return { model: drawn, tables: physicalTables(drawn, sqlite, model), lists };
}

/** As the rows of a job need it: a column with a value that its type cannot hold is text, a list too; so is a list that became text before. */
export function drawForRows(
  model: RelationalModel,
  known: FoundTables,
  { widened, nullAllowed }: Pick<SqlitePublication, 'widened' | 'nullAllowed'>,
): DrawnModel {
  const asModelled = drawModel(model);
  const isTextThere = (table: number, column: number): boolean => {
    const there = known.get(foldedName(asModelled.tables[table]!.name))?.columns;
    const { columns } = asModelled.tables[table]!;
    const name = physicalName(sqlite, model.tables[table]!.columns[column]!.name);
    return (
      there !== undefined && there.has(foldedName(name)) && !there.has(foldedName(columns[column]!.name))
    );
  };
  return drawModel({
    ...model,
    tables: model.tables.map((table, index) => ({
      ...table,
      columns: table.columns.map((column, at) => {
        const id = columnId(index, at);
        const becomesText = widened.has(id) || (column.type.list === true && isTextThere(index, at));
        if (!becomesText && !nullAllowed.has(id)) return column;
        return {
          ...column,
          ...(becomesText ? { type: { kind: 'text' as const } } : {}),
          nullable: column.nullable || nullAllowed.has(id),
        };
      }),
    })),
  });
}

/** The name of a table that is dropped again; a temporary table would hide one of the file that has its name. */
export function temporaryName(): string {
  return `${ownPrefix}${randomBytes(8).toString('hex')}`;
}

export async function runAll(database: SqliteDb, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await database.run(statement);
}
