/** Every dialect by name; postgresql comes first and is the default. */
import { bigquery } from './bigquery.ts';
import { databricks } from './databricks.ts';
import type { Dialect, DialectName } from '../dialect.ts';
import { duckdb } from './duckdb.ts';
import { mysql } from './mysql.ts';
import { oracle } from './oracle.ts';
import { postgresql } from './postgresql.ts';
import { redshift } from './redshift.ts';
import { snowflake } from './snowflake.ts';
import { sqlite } from './sqlite.ts';
import { sqlserver } from './sqlserver.ts';

export const dialectNames = [
  'postgresql',
  'duckdb',
  'sqlite',
  'mysql',
  'sqlserver',
  'oracle',
  'snowflake',
  'bigquery',
  'redshift',
  'databricks',
] as const satisfies readonly DialectName[];

const dialects: Readonly<Record<DialectName, Dialect>> = {
  postgresql,
  duckdb,
  sqlite,
  mysql,
  sqlserver,
  oracle,
  snowflake,
  bigquery,
  redshift,
  databricks,
};

export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}
