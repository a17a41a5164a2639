/** The state that the steps of a publishing transaction share. */
import type { TransactionSql } from '../../../postgres/connect.ts';
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { SqlDatabase } from '../database.ts';
import { relationOf } from '../found-tables.ts';
import type { Publication } from '../publication.ts';
import type { PostgresDriver } from './driver.ts';
import type { ExistingTarget } from './existing-tables.ts';
import type { StagingArea } from './staging-area.ts';
import type { StagedTable } from './staged-table.ts';

/** Rows that were inserted into a table that existed before. */
export interface Insertion {
  /** physical name */
  readonly table: string;
  readonly key: string | undefined;
  /** the number that is added to the table's keys */
  readonly offset: bigint;
  /** quoted, with its schema */
  readonly staged: string;
  readonly stagedRows: number;
  /** the number of rows that the server reports as added */
  readonly added: number;
}

export interface PostgresPublication extends Publication<SqlDatabase, StagedTable> {
  readonly driver: PostgresDriver;
  readonly tx: TransactionSql;
  readonly sqlSchema: string;
  /** the model's tables, by index */
  readonly tables: readonly PhysicalTable[];
  readonly staging: StagingArea;
  /** the target before this transaction, without tables that were dropped; `columns` include the changes of this transaction */
  readonly target: ExistingTarget;
  /** keyed by physical table name: the key after which this job counts, if that is not 0 */
  readonly countedFrom: ReadonlyMap<string, number>;
  /** table and column, `0:3`: NOT NULL columns that some row left empty */
  readonly nullAllowed: Set<string>;
  /** physical names of the tables that this transaction made */
  readonly createdTables: Set<string>;
  /** physical names of the target's tables that exist at this point */
  readonly present: Set<string>;
  /** existing tables whose foreign keys this transaction dropped and must make again */
  readonly rekeyed: Set<string>;
  /** physical names of created tables that have their primary key and NOT NULL already */
  readonly keyed: Set<string>;
  /** staged tables that became tables of the target */
  readonly moved: Set<StagedTable>;
  /** insertions into tables that existed before */
  readonly insertions: Insertion[];
  /** columns that tables of the target got in this transaction, `0:3`, and those tables, `0:` */
  readonly addedColumns: Set<string>;
  /** columns of the target whose check of codes was dropped, `0:3`, and their names */
  readonly uncheckedColumns: Map<string, string>;
  /**
   * by name, statements that make them again: views of loads that were dropped because they blocked a change; empty: another object has
   * their name now
   */
  readonly viewsAside: Map<string, readonly string[]>;
}

/**
 * Returns, quoted, the column with the offset with which the times of a column are written, or null if there is none. `isPresent`: says
 * whether the target has a column of that name.
 */
export function offsetBehind(
  { plan, tables }: Pick<PostgresPublication, 'plan' | 'tables'>,
  index: number,
  at: number,
  isPresent: (name: string) => boolean,
): string | null {
  if (!hasOffsetBehind(plan.model.tables[index]!.columns, at)) return null;
  const { name } = tables[index]!.columns[at + 1]!;
  return isPresent(name) ? doubleQuoted(name) : null;
}

/** Returns the table's name, quoted, with the target's SQL schema. */
export function relation(publication: PostgresPublication, table: string): string {
  return relationOf(publication.driver)(table);
}
