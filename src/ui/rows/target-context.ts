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
  readonly columns: readonly TargetColumn[];
  readonly idSch: number;
  readonly idLschma: number;
}

export interface TargetContext {
  readonly target: string;
  readonly sql: TargetSql;
  readonly tables: readonly ShownTable[];
  readonly query: URLSearchParams;
  readonly signal: AbortSignal;
}
