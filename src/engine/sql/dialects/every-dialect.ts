/** The registry of dialects. A new dialect needs a file in this folder, a line here, and its golden. */
import type { Dialect } from '../dialect.ts';
import { bigquery } from './bigquery.ts';
import { clickhouse } from './clickhouse.ts';
import { databricks } from './databricks.ts';
import { duckdb } from './duckdb.ts';
import { mysql } from './mysql.ts';
import { oracle } from './oracle.ts';
import { postgresql } from './postgresql.ts';
import { redshift } from './redshift.ts';
import { snowflake } from './snowflake.ts';
import { sqlite } from './sqlite.ts';
import { sqlserver } from './sqlserver.ts';
import { trino } from './trino.ts';

/** By name; the first one is the default. */
const dialects = {
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
  trino,
  clickhouse,
} as const satisfies Readonly<Record<string, Dialect>>;

export type DialectName = keyof typeof dialects;

export const dialectNames = Object.keys(dialects) as readonly DialectName[] as readonly [
  DialectName,
  ...DialectName[],
];

export function dialectOf(name: DialectName): Dialect {
  return dialects[name];
}
