/** The context that the parts of a target's view share. */
import type { TargetSql } from './statements.ts';

export interface TargetColumn {
  readonly name: string;
  readonly type: string;
  readonly key: 'PK' | 'FK' | null;
  readonly xpath: string | null;
  readonly documentation: string | null;
}

export interface ShownTable {
  readonly name: string;
  /** empty: the table is not one of a schema, and its rows show its columns */
  readonly columns: readonly TargetColumn[];
  /** null: no schema has the table */
  readonly schema: { readonly idSch: number; readonly idLschma: number } | null;
}

export interface TargetContext {
  readonly target: string;
  readonly sql: TargetSql;
  readonly tables: readonly ShownTable[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}
