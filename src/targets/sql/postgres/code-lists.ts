/**
 * Codes that the schema enumerates (`--codes`), in the transaction that publishes: the table `_codes`, and checks of columns. A column has
 * a check as long as every row has a value of the list. Documents may have other values, and their rows are loaded nevertheless.
 */
import { sqlState, type TransactionSql } from '../../../postgres/connect.ts';
import { constraintName } from '../../../engine/map/names/constraint-name.ts';
import { codesTable } from '../../../engine/model/side-tables.ts';
import {
  amongCodes,
  checkComment,
  checkStatements,
  codeRows,
  freeName,
  type CodedColumn,
  type ModelCodes,
} from '../../../engine/sql/code-lists.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { codesOf } from '../../rows/code-lists.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { fillCodes, makeCodes } from '../codes.ts';
import { databaseOf, runAll } from './driver.ts';
import { readTarget, type ExistingTarget, type OwnCheck } from './existing-tables.ts';
import { relation, type PostgresPublication } from './publication.ts';

/** errors by which statements on codes can be refused: values that a type or an index does not accept, and names in use */
const refusals = /^(?:22|42|54)/;
/** columns that one scan checks */
const columnsPerScan = 400;

/** A column whose values must be among these codes. */
export interface CheckedColumn extends CodedColumn {
  readonly codes: readonly string[];
}

export type CodesChoice = 'none' | 'table' | 'check';

/** Returns how earlier loads kept codes. */
export function codesThere({ checks, codes }: ExistingTarget): CodesChoice {
  if (checks.length > 0) return 'check';
  return codes === 'ours' ? 'table' : 'none';
}

/**
 * Fills `_codes`, and drops the checks whose lists have changed. `kept`: the choice of earlier loads. Returns the columns that need checks.
 */
export async function publishCodes(
  publication: PostgresPublication,
  kept: CodesChoice,
): Promise<readonly CheckedColumn[]> {
  const { plan, tables, staging, present } = publication;
  const choice = plan.codes ?? kept;
  if (choice === 'none') return [];
  const planned = await codesOf(
    plan,
    (table) => plan.allTables || staging.get(table)!.created || present.has(tables[table]!.name),
  );
  const isFilled = await fillTable(publication, planned);
  if (choice === 'table') return [];
  const all = isFilled ? await codesOfTypes(publication, planned) : new Map<string, string[]>();
  const columns = planned.columns.map((column) => ({
    ...column,
    codes: [
      ...new Set(
        column.types.flatMap(
          (type) => all.get(type) ?? planned.lists.get(type)!.codes.map(({ code }) => code),
        ),
      ),
    ],
  }));
  for (const { table, column, codes } of columns) {
    const [name, comment] = [tables[table]!.columns[column]!.name, checkComment(codes)];
    await dropChecks(
      publication,
      (check) => check.column === name && check.comment !== comment,
      tables[table]!.name,
    );
  }
  return columns;
}

/** Returns false if another object has the table's name. */
async function fillTable(publication: PostgresPublication, planned: ModelCodes): Promise<boolean> {
  const { tx, target, tables, changes } = publication;
  const { name } = codesTable;
  if (target.codes === 'other' || tables.some((table) => table.name === name)) {
    changes.push(`${name}: not filled with codes, no load made what has this name`);
    return false;
  }
  const isOurs = target.codes === 'ours';
  if (codeRows(planned).length === 0) return isOurs;
  const refused = await attempt(tx, async (savepoint) => {
    const scope = { ...publication, database: databaseOf(savepoint) };
    if (!isOurs) await makeCodes(scope, planned);
    await fillCodes(scope, planned);
  });
  if (refused !== null) changes.push(`${name}: codes could not be kept: ${refused}`);
  return refused === null;
}

/** Returns codes by type, including those of earlier loads: rows of earlier versions of the schema have them. */
async function codesOfTypes(
  publication: PostgresPublication,
  { lists }: ModelCodes,
): Promise<ReadonlyMap<string, string[]>> {
  const types = standardLiteral(JSON.stringify([...lists.keys()]));
  const rows = await publication.tx.unsafe<{ type: string; codes: string[] }[]>(
    `SELECT type, json_agg(code ORDER BY code) AS codes FROM ${relation(publication, codesTable.name)}
      WHERE type IN (SELECT jsonb_array_elements_text(${types}::jsonb)) GROUP BY type`,
  );
  return new Map(rows.map(({ type, codes }) => [type, codes]));
}

/** Drops the checks of loads on that table that `isMeant` selects; `addCodeChecks` makes them again, or reports that they are gone. */
export async function dropChecks(
  publication: PostgresPublication,
  isMeant: (check: OwnCheck) => boolean,
  table: string,
): Promise<void> {
  const { tx, target, tables, uncheckedColumns } = publication;
  const meant = target.checks.filter((check) => check.table === table && isMeant(check));
  if (meant.length === 0) return;
  target.checks = target.checks.filter((check) => !meant.includes(check));
  const drops = meant.map(({ name }) => `DROP CONSTRAINT ${doubleQuoted(name)}`);
  await tx.unsafe(`ALTER TABLE ${relation(publication, table)} ${drops.join(', ')}`);
  const index = tables.findIndex(({ name }) => name === table);
  for (const { column } of meant) {
    const at = tables[index]!.columns.findIndex(({ name }) => name === column);
    uncheckedColumns.set(columnId(index, at), `${table}.${column}`);
  }
}

/**
 * Adds checks of codes to columns that this job made or filled anew, and to all others if the job requests checks, provided that every row
 * has a value of the list.
 */
export async function addCodeChecks(
  publication: PostgresPublication,
  columns: readonly CheckedColumn[],
): Promise<void> {
  const { tx, plan, sqlSchema, tables, target, createdTables, addedColumns, uncheckedColumns, present } =
    publication;
  const checked = new Set(target.checks.map(({ table, column }) => JSON.stringify([table, column])));
  const wanted = columns.filter(({ table, column }) => {
    const [{ name, columns: physical }, id] = [tables[table]!, columnId(table, column)];
    if (!present.has(name) || checked.has(JSON.stringify([name, physical[column]!.name]))) return false;
    const isMade = createdTables.has(name) || addedColumns.has(id);
    return isMade || plan.codes === 'check' || uncheckedColumns.has(id);
  });
  for (const { table, column } of wanted) uncheckedColumns.delete(columnId(table, column));
  for (const gone of uncheckedColumns.values())
    publication.changes.push(`${gone}: check of its codes dropped`);
  if (wanted.length === 0) return;
  const names = [...new Set(wanted.map(({ table }) => tables[table]!.name))];
  const there = await readTarget(tx, sqlSchema, names);
  const taken = await constraintsOf(publication, names);
  for (const [table, own] of Map.groupBy(wanted, (column) => column.table)) {
    const { name, columns: physical } = tables[table]!;
    const typed = own.flatMap(({ column, codes }): Check[] => {
      const found = there.tables.get(name)?.columns.get(physical[column]!.name);
      const isList = plan.model.tables[table]!.columns[column]!.type.list === true;
      const values =
        found === undefined || found.type.endsWith('[]') !== isList
          ? null
          : amongCodes(doubleQuoted(found.name), found.type, codes);
      return values === null ? [] : [{ column: found!.name, codes, values }];
    });
    for (let from = 0; from < typed.length; from += columnsPerScan)
      await addChecks(publication, name, typed.slice(from, from + columnsPerScan), taken);
  }
}

interface Check {
  readonly column: string;
  readonly codes: readonly string[];
  /** a condition on the column */
  readonly values: string;
}

async function addChecks(
  publication: PostgresPublication,
  table: string,
  checks: readonly Check[],
  taken: Set<string>,
): Promise<void> {
  const { tx, changes } = publication;
  const scans = checks.map(
    ({ column, values }, at) =>
      `min(CASE WHEN NOT (${values}) THEN ${doubleQuoted(column)}::text END) AS c${at}`,
  );
  const [broken] = await tx.unsafe<Record<string, string | null>[]>(
    `SELECT ${scans.join(', ')} FROM ${relation(publication, table)}`,
  );
  const statements: string[] = [];
  for (const [at, { column, codes, values }] of checks.entries()) {
    const value = broken![`c${at}`] ?? null;
    if (value !== null) {
      changes.push(
        `${table}.${column}: without a check of its codes, as values are not among them, such as ${shown(value)}`,
      );
      continue;
    }
    const name = freeName(constraintName(table, column, 'codes'), (one) =>
      taken.has(JSON.stringify([table, one])),
    );
    taken.add(JSON.stringify([table, name]));
    statements.push(
      ...checkStatements({ table: relation(publication, table), name, condition: values, codes }),
    );
  }
  const refused = await attempt(tx, (savepoint) => runAll(savepoint, statements));
  if (refused !== null) changes.push(`${table}: checks of codes could not be made: ${refused}`);
}

function shown(value: string): string {
  return JSON.stringify(value.length <= 40 ? value : `${value.slice(0, 40)}…`);
}

/** Returns the constraints, by table and name. */
async function constraintsOf(
  { tx, sqlSchema }: PostgresPublication,
  tables: readonly string[],
): Promise<Set<string>> {
  const rows = await tx.unsafe<{ table: string; name: string }[]>(
    `SELECT t.relname AS table, k.conname AS name FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
       JOIN pg_namespace n ON n.oid = t.relnamespace
      WHERE n.nspname = ${standardLiteral(sqlSchema)}
        AND t.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(tables))}::jsonb))`,
  );
  return new Set(rows.map(({ table, name }) => JSON.stringify([table, name])));
}

/** Does all of the work, or none, and then returns the reason why the server refuses it. */
async function attempt(
  tx: TransactionSql,
  work: (savepoint: TransactionSql) => Promise<void>,
): Promise<string | null> {
  try {
    await tx.savepoint(work);
    return null;
  } catch (error) {
    if (!refusals.test(sqlState(error) ?? '')) throw error;
    return (error as Error).message;
  }
}
