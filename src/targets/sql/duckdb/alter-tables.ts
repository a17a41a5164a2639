/** What the columns of the rows that come need, and a table that was there before made able to take them. */
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import { commentStatements } from '../../../engine/sql/statements.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { exactDigits, measuredDigits, type StagedCsv } from './csv-import.ts';
import { foldedName, type DuckDb } from './database.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { runAll } from '../database.ts';
import type { FoundTable } from '../found-tables.ts';
import type { Publication } from '../publication.ts';
import { hasValues } from './tables.ts';
import {
  addsZone,
  columnSqlType,
  converted,
  larger,
  settledType,
  typeForDigits,
  type DecimalDigits,
} from './types.ts';

/** A column of the rows that come. */
export interface Incoming {
  readonly sqlType: string;
  readonly nullable: boolean;
  /** digits of the column's values, where the model bounds them no further */
  readonly digits?: DecimalDigits;
}

export async function incomingTypes(
  { database, plan, drawn, nullAllowed, widened }: Publication<DuckDb>,
  index: number,
  csv: StagedCsv,
): Promise<Incoming[]> {
  const columns = plan.model.tables[index]!.columns.map(({ type }, at) => ({ at, type }));
  const digits = await measuredDigits(
    database,
    csv,
    columns.filter(({ at }) => !widened.has(columnId(index, at))),
  );
  return columns.map(({ at, type }) => {
    const nullable = drawn.tables[index]!.columns[at]!.nullable || nullAllowed.has(columnId(index, at));
    const found = digits.get(at);
    if (found === undefined)
      return { sqlType: columnSqlType(widened.get(columnId(index, at)) ?? type), nullable };
    return { sqlType: `${typeForDigits(found)}${type.list ? '[]' : ''}`, nullable, digits: found };
  });
}

/**
 * Missing columns are added, types widened, NOT NULL dropped where a row may leave the column empty; answers the types that the
 * table's columns have then, in the model's order.
 */
export async function adaptTable(
  publication: Publication<DuckDb>,
  index: number,
  known: FoundTable,
  incoming: readonly Incoming[],
): Promise<string[]> {
  const { database, changes, plan } = publication;
  const table = publication.drawn.tables[index]!;
  const alterTable = `ALTER TABLE ${doubleQuoted(known.name)}`;
  const statements: string[] = [];
  const added = new Set<string>();
  const types: string[] = [];
  for (const [at, column] of table.columns.entries()) {
    const name = doubleQuoted(column.name);
    const { sqlType, nullable, digits } = incoming[at]!;
    const there = known.columns.get(foldedName(column.name));
    if (there === undefined) {
      statements.push(`${alterTable} ADD COLUMN ${name} ${sqlType}`);
      added.add(column.name);
      types.push(sqlType);
      changes.push(`${table.name}.${column.name}: added`);
      continue;
    }
    const showsInstants =
      addsZone(there.type, sqlType) && !(await hasValues(database, known.name, there.name));
    const settled = showsInstants
      ? sqlType
      : await settledType(there.type, sqlType, async () =>
          larger(
            await digitsThere(database, known.name, name, there.type),
            digits ?? { whole: 38, fraction: 0 },
          ),
        );
    types.push(settled);
    if (settled !== there.type) {
      const offset = hasOffsetBehind(plan.model.tables[index]!.columns, at)
        ? known.columns.get(foldedName(table.columns[at + 1]!.name))
        : undefined;
      const value = converted(name, there.type, settled, offset ? doubleQuoted(offset.name) : null);
      statements.push(`${alterTable} ALTER COLUMN ${name} TYPE ${settled} USING ${value}`);
      changes.push(`${table.name}.${column.name}: ${there.type} widened to ${settled}`);
    }
    if (there.notNull && nullable && plan.model.tables[index]!.columns[at]!.role !== 'row_key') {
      statements.push(`${alterTable} ALTER COLUMN ${name} DROP NOT NULL`);
      changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
    }
  }
  const ours = new Set(table.columns.map((column) => foldedName(column.name)));
  for (const column of known.columns.values()) {
    if (ours.has(foldedName(column.name)) || !column.notNull || column.hasDefault) continue;
    statements.push(`${alterTable} ALTER COLUMN ${doubleQuoted(column.name)} DROP NOT NULL`);
    changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
  }
  const comments = { ...table, columns: table.columns.filter((column) => added.has(column.name)) };
  statements.push(...commentStatements(duckdb, null, comments).slice(1));
  await runAll(database, statements);
  return types;
}

async function digitsThere(
  database: DuckDb,
  table: string,
  column: string,
  sqlType: string,
): Promise<DecimalDigits> {
  const values = sqlType.endsWith('[]') ? `SELECT unnest(${column}) AS value` : `SELECT ${column} AS value`;
  const [whole, fraction] = exactDigits('value::VARCHAR');
  const [row] = await database.read<{ whole: number | null; fraction: number | null }>(
    `SELECT max(${whole})::INTEGER AS whole, max(${fraction})::INTEGER AS fraction FROM (${values} FROM ${doubleQuoted(table)})`,
  );
  return { whole: row?.whole ?? 0, fraction: row?.fraction ?? 0 };
}
