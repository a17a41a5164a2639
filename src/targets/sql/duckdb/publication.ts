/** What the steps of a publishing transaction share: connection, plan, staged rows. */
import { randomBytes } from 'node:crypto';
import { ownPrefix } from '../../../engine/model/side-tables.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { MergeOrder } from '../../../ports/rows/merge.ts';
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import type { StagedRowsFile } from '../database-files/sink.ts';
import type { DuckDb } from './database.ts';
import type { KnownTables } from './tables.ts';
import type { Merging } from '../../../adapters/row-sinks/merging.ts';
import type { WidenedTypes } from '../../../adapters/row-sinks/unfit-columns.ts';

export interface DuckDbPublication {
  readonly database: DuckDb;
  readonly plan: SinkPlan;
  /** the model's tables, in its order */
  readonly tables: readonly PhysicalTable[];
  /** nobody else knows the file: what is in it needs not be there all at once */
  readonly isNew: boolean;
  /** files with rows, by index of the table or name of the table beside the data */
  readonly staged: ReadonlyMap<number | string, StagedRowsFile>;
  /** NOT NULL columns that some row left empty, and columns with a value that their type cannot hold, as `columnId` names them */
  readonly nullAllowed: ReadonlySet<string>;
  readonly widened: WidenedTypes;
  /** by `columnId`: keys, as they are staged, of rows whose text is none although it looks like a staged value or list */
  readonly textRows: ReadonlyMap<string, ReadonlySet<string>>;
  /** what is in the file; kept as statements change it */
  known: KnownTables;
  /** name for a temporary table of the keys of documents that are there before */
  readonly oldDocuments: string;
  readonly merge: MergeOrder;
  /** save mode `merge`: what became of documents that were there; null: nothing yet */
  merging: Merging<string> | null;
  /** for the log */
  readonly changes: string[];
}

/** The name of a table that is dropped again; a temporary table would hide one of the file that has its name. */
export function temporaryName(): string {
  return `${ownPrefix}${randomBytes(8).toString('hex')}`;
}

/** Statements in a few calls. */
export async function runAll(database: DuckDb, statements: readonly string[]): Promise<void> {
  for (let from = 0; from < statements.length; from += 100)
    await database.run(statements.slice(from, from + 100).join(';\n'));
}
