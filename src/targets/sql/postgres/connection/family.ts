/** Servers that speak PostgreSQL's protocol and are something else: told apart by what `version()` answers, and by their extensions. */
import { AppError } from '../../../../errors.ts';
import type { Sql, TransactionSql } from '../../../../adapters/postgres/client/connect.ts';

/** What a load needs and these lack, or where it has not been shown that they have it. */
const others: readonly (readonly [answer: RegExp, product: string, why: string])[] = [
  [/\bRedshift\b/i, 'Amazon Redshift', 'it has no COPY from the connection and no advisory locks'],
  [/^CockroachDB\b/i, 'CockroachDB', 'it has no advisory locks, which keep two jobs apart'],
  [/-YB-/, 'YugabyteDB', 'its DDL is not part of the transaction that publishes rows'],
  [/\bGreenplum\b/i, 'Greenplum', 'loads have not been run against it'],
  [/\bMaterialize\b/i, 'Materialize', 'it has no keys and no advisory locks'],
];

/** The product that answers `version()` so, and why it is no target; null: loads go there as to PostgreSQL. */
export function otherProduct(version: string): { product: string; why: string } | null {
  const found = others.find(([answer]) => answer.test(version));
  return found === undefined ? null : { product: found[1], why: found[2] };
}

/** AppError `target_not_allowed` where the server is known to be something else; before any other statement, which it may not know. */
export async function checkProduct(sql: Sql): Promise<void> {
  const [row] = await sql.unsafe<{ version: string }[]>('SELECT pg_catalog.version() AS version');
  const other = otherProduct(row!.version);
  if (other === null) return;
  throw new AppError(
    'target_not_allowed',
    `The target is ${other.product}, not PostgreSQL: ${other.why}. Load a folder (-o FOLDER -f csv or -f parquet), and have it read the files from there.`,
  );
}

/** PostgreSQL with more in it is loaded as such; what that means for tables that a load makes. */
const extensions: Readonly<Record<string, string>> = {
  citus: 'the new tables are plain ones of this node; loads into distributed tables have not been run',
  timescaledb: 'the new tables are plain ones; loads into hypertables have not been run',
};

/** For the log of a job that made tables there: a line for each such extension. */
export async function extensionNotes(tx: TransactionSql): Promise<string[]> {
  const found = await tx.unsafe<{ name: string; version: string }[]>(
    'SELECT extname AS name, extversion AS version FROM pg_catalog.pg_extension ORDER BY extname',
  );
  return found.flatMap(({ name, version }) => {
    const note = extensions[name];
    return note === undefined ? [] : [`the database has ${name} ${version}: ${note}`];
  });
}
