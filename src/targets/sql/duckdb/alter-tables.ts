/** Determines the types that the columns of incoming rows need, and alters existing tables so that they can hold them. */
import { hasOffsetBehind } from '../../../engine/model/zones.ts';
import { commentStatements } from '../../../engine/sql/statements.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { exactDigits, measuredDigits, type StagedCsv } from './csv-import.ts';
import { foldedName, type DuckDb } from './database.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { findAlterations } from '../alterations.ts';
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

/** A column of the incoming rows. */
export interface Incoming {
  readonly sqlType: string;
  readonly nullable: boolean;
  /** digits of the column's values, if the model sets no other limit */
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
 * Adds missing columns, widens types, and drops NOT NULL if a row may leave the column empty. Returns the types that the table's columns
 * have afterwards, in the model's order.
 */
export async function adaptTable(
  publication: Publication<DuckDb>,
  index: number,
  known: FoundTable,
  incoming: readonly Incoming[],
): Promise<string[]> {
  const { database, plan } = publication;
  const table = publication.drawn.tables[index]!;
  const alterTable = `ALTER TABLE ${doubleQuoted(known.name)}`;
  const { alterations, types } = await findAlterations(publication, index, known, {
    foldedName,
    column: (at) => ({ type: incoming[at]!.sqlType, nullable: incoming[at]!.nullable }),
    async settle(there, at) {
      const { sqlType, digits = { whole: 38, fraction: 0 } } = incoming[at]!;
      const showsInstants =
        addsZone(there.type, sqlType) && !(await hasValues(database, known.name, there.name));
      if (showsInstants) return sqlType;
      const column = doubleQuoted(table.columns[at]!.name);
      return settledType(there.type, sqlType, async () =>
        larger(await digitsThere(database, known.name, column, there.type), digits),
      );
    },
  });
  const statements = alterations.map((alteration) => {
    if (alteration.kind === 'loosen')
      return `${alterTable} ALTER COLUMN ${doubleQuoted(alteration.there.name)} DROP NOT NULL`;
    const { at, type } = alteration;
    const name = doubleQuoted(table.columns[at]!.name);
    if (alteration.kind === 'add') return `${alterTable} ADD COLUMN ${name} ${type}`;
    const offset = hasOffsetBehind(plan.model.tables[index]!.columns, at)
      ? known.columns.get(foldedName(table.columns[at + 1]!.name))
      : undefined;
    const value = converted(name, alteration.there.type, type, offset ? doubleQuoted(offset.name) : null);
    return `${alterTable} ALTER COLUMN ${name} TYPE ${type} USING ${value}`;
  });
  const added = new Set(alterations.flatMap((one) => (one.kind === 'add' ? [one.at] : [])));
  const comments = { ...table, columns: table.columns.filter((_, at) => added.has(at)) };
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
