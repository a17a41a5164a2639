/** A connection that copies into staging, and statements run on one. */
import type { CopyStream } from './copy-stream.ts';
import type { Socket } from 'node:net';
import type { Sql, TransactionSql } from '../../../../adapters/postgres/client/connect.ts';

/** `Table`: what it copies into. */
export interface Lane<Table> {
  readonly sql: Sql;
  /** where the server reads what is written to it */
  socket: Socket | null;
  table: Table | null;
  copy: CopyStream | null;
  running: boolean;
  /** its session has been made ready */
  isSetUp: boolean;
}

/** Runs statements in one message; nothing for none. */
export async function runAll(tx: TransactionSql, statements: readonly string[]): Promise<void> {
  // one message of bounded size, however many columns there are
  for (let from = 0; from < statements.length; from += 1000) {
    await tx.unsafe(statements.slice(from, from + 1000).join(';\n'));
  }
}
