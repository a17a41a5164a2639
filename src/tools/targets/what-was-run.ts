/** What rows can go to: by which driver, what makes a load there whole, and what that was run against (docs/targets.md, “What was run”). */

interface KnownTarget {
  readonly target: string;
  readonly driver: string;
  /** what publishes the rows of a job */
  readonly transaction: string;
  /** with versions; of what was not run, what was done in its place */
  readonly run_against: string;
}

export const targetKinds: readonly KnownTarget[] = [
  {
    target: 'PostgreSQL, `metadb:`',
    driver: '`postgres` 3.4.9',
    transaction: 'one publishes rows, changes of tables and the ledger',
    run_against: '15.18, 16.14, 17.10 and 18.4, also behind PgBouncer 1.18',
  },
  {
    target: 'MySQL, MariaDB',
    driver: '`mysql2` 3.24.6',
    transaction: 'one `RENAME TABLE`, or one for rows',
    run_against: 'MariaDB 10.11; no MySQL',
  },
  {
    target: 'SQLite files',
    driver: 'Node’s `node:sqlite`',
    transaction: 'one',
    run_against: 'the SQLite of Node 26; read by the shell 3.40',
  },
  {
    target: 'DuckDB files',
    driver: '`@duckdb/node-api` 1.5.6',
    transaction: 'one',
    run_against: 'DuckDB 1.5; its files opened by 1.4 and 2.0',
  },
  {
    target: 'folders and buckets of files',
    driver: 'our own',
    transaction: 'the manifest, one file',
    run_against: 'disks, moto, Azurite; read by psql, DuckDB, SQLite, MariaDB, pandas',
  },
  {
    target: 'Delta, Iceberg',
    driver: 'our own, `avsc` 5.7.9',
    transaction: 'one for each table, `_loads` last',
    run_against:
      'disks, moto, versitygw, Azurite; read by delta-rs, PyIceberg, DuckDB, Spark ([Delta](delta.md), [Iceberg](iceberg.md))',
  },
  {
    target: 'a catalogue of Iceberg',
    driver: 'our own, `avsc` 5.7.9',
    transaction: 'one for all tables, where the catalogue can',
    run_against:
      'the server of Iceberg’s tests over moto and versitygw; read by PyIceberg (see [there](iceberg.md#in-a-catalogue))',
  },
  {
    target: 'Snowflake, BigQuery, Redshift, Databricks: scripts',
    driver: 'the warehouse’s own client',
    transaction: 'as above',
    run_against: 'none of them: sqlglot parses each; Snowflake’s loads by fakesnow 0.12',
  },
  {
    target: 'Trino, ClickHouse: DDL',
    driver: '–',
    transaction: '–',
    run_against: 'ClickHouse 26.9 (chdb 4.4), with rows and views; sqlglot parses both',
  },
  {
    target: 'SQL Server, Oracle: DDL',
    driver: '–',
    transaction: '–',
    run_against: 'nothing: a parser of each dialect (sqlglot) reads it',
  },
];

/** Without the marks of the page. */
export function plainKinds(): readonly KnownTarget[] {
  return targetKinds.map((kind) => ({
    target: plain(kind.target),
    driver: plain(kind.driver),
    transaction: plain(kind.transaction),
    run_against: plain(kind.run_against),
  }));
}

function plain(text: string): string {
  return text.replaceAll('`', '').replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');
}
