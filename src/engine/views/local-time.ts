/** Local times of instants, in each dialect (docs/decisions/model/offsets-of-times.md). */
import { hasOffsetBehind } from '../model/zones.ts';
import type { Column } from '../model/relational-model.ts';
import type { DialectName } from '../sql/dialect.ts';

/** Whether column `at` of a table has instants, as many minutes from their local times as the one behind says. */
export function tellsLocalTime(columns: readonly Column[], at: number): boolean {
  const { kind, list } = columns[at]!.type;
  return kind === 'timestamptz' && list !== true && hasOffsetBehind(columns, at);
}

/** The date and time as documents write it, without its zone. `instant`, `offset`: expressions; an offset that is NULL is that of UTC. */
export function localTime(dialect: DialectName, instant: string, offset: string): string {
  const minutes = `coalesce(${offset}, 0)`;
  switch (dialect) {
    case 'duckdb':
      return `(${instant} AT TIME ZONE 'UTC') + to_minutes(${minutes})`;
    case 'sqlite':
      // texts: as documents write them, or in UTC; seconds stay as they are, which SQLite itself would round to milliseconds
      return `CASE WHEN ${instant} LIKE '%Z' THEN strftime('%Y-%m-%dT%H:%M', substr(${instant}, 1, 16), ${minutes} || ' minutes') || substr(${instant}, 17, length(${instant}) - 17) ELSE substr(${instant}, 1, length(${instant}) - 6) END`;
    case 'mysql':
      return `${instant} + INTERVAL ${minutes} MINUTE`;
    case 'sqlserver':
      return `CAST(SWITCHOFFSET(${instant}, ${minutes}) AS DATETIME2(7))`;
    case 'oracle':
      return `SYS_EXTRACT_UTC(${instant}) + NUMTODSINTERVAL(${minutes}, 'MINUTE')`;
    case 'snowflake':
      return `DATEADD(minute, ${minutes}, CONVERT_TIMEZONE('UTC', ${instant})::TIMESTAMP_NTZ(9))`;
    case 'bigquery':
      return `DATETIME_ADD(DATETIME(${instant}, 'UTC'), INTERVAL ${minutes} MINUTE)`;
    case 'redshift':
      return `DATEADD(minute, ${minutes}, ${instant} AT TIME ZONE 'UTC')`;
    case 'databricks':
      // casts would go by the time zone of the session
      return `TIMESTAMP_NTZ'1970-01-01 00:00:00' + make_dt_interval(0, 0, ${minutes}, CAST(unix_micros(${instant}) AS DECIMAL(20, 0)) / 1000000)`;
    default:
      return `(${instant} AT TIME ZONE 'UTC') + ${minutes} * INTERVAL '1 minute'`;
  }
}
