/**
 * Tables of the target: they are made, widened, or moved there from staging with their rows, and get their keys and comments. Also compares
 * their types, and makes code lists and views.
 */
import { sqlState, type TransactionSql, type Sql } from '../../../postgres/connect.ts';
import { constraintName, truncateToBytes } from '../../../engine/map/names/identifiers.ts';
import {
  codesTable,
  sideTableNames,
  ownPrefix,
  sideTableDefinitions,
} from '../../../engine/model/side-tables.ts';
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
import { fillCodes, makeCodes, makeSideTables } from '../publish.ts';
import { databaseOf, runAll } from './driver.ts';
import {
  readTarget,
  type ExistingTarget,
  type OwnCheck,
  ownViews,
  type OwnView,
  hasValues,
  keyIndexMark,
} from './existing-tables.ts';
import { relation, type PostgresPublication, offsetBehind } from './publication.ts';
import { AppError } from '../../../errors.ts';
import { markedComment, type LoadView } from '../../rows/made-views.ts';
import { viewsOfModel, type ViewTypes } from '../views.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import {
  keyIndexStatement,
  keyIndexes,
  type KeyIndex,
  addForeignKey,
  commentStatements,
  indexStatements,
} from '../../../engine/sql/ddl.ts';
import { physicalSideTable, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { SinkPlan } from '../../../ports/row-sink.ts';
import { findAlterations } from '../database.ts';
import type { StagingArea } from './staging-area.ts';
import type { StagedTable } from './staged-table.ts';

// Types of existing columns, written as by `format_type`, compared with those of incoming rows.

/** Names of the dialect that `format_type` writes differently, without sizes. */
const formattedNames: Readonly<Record<string, string>> = {
  timestamptz: 'timestamp with time zone',
  timestamp: 'timestamp without time zone',
  time: 'time without time zone',
};

/** Returns whether the type of the target is that of the dialect. */
function isOfType(target: string, sqlType: string): boolean {
  return target === (formattedNames[sqlType] ?? sqlType);
}

const wholeDigits: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };

interface Decimal {
  /** digits before and after the point; Infinity if unbounded */
  readonly before: number;
  readonly after: number;
}

/**
 * Returns the type that the target's column needs so that it holds its own values and those of `staged`: the target's type itself, a wider
 * one, or text.
 */
function settledType(target: string, staged: string): string {
  if (target === staged) return target;
  if (target.endsWith('[]') && staged.endsWith('[]')) {
    const [our, their] = [target.slice(0, -2), staged.slice(0, -2)];
    const item = settledType(our, their);
    // items of other kinds have no array in common
    return item === 'text' && (textLength(our) === null || textLength(their) === null) ? 'text' : `${item}[]`;
  }
  const [ours, theirs] = [decimalOf(target), decimalOf(staged)];
  if (ours !== null && theirs !== null) {
    if (theirs.before <= ours.before && theirs.after <= ours.after) return target;
    if (ours.before <= theirs.before && ours.after <= theirs.after) return staged;
    const [before, after] = [Math.max(ours.before, theirs.before), Math.max(ours.after, theirs.after)];
    return before === Infinity || after === Infinity ? 'numeric' : `numeric(${before + after},${after})`;
  }
  const [length, wanted] = [textLength(target), textLength(staged)];
  if (length !== null && wanted !== null) {
    // a value of another length would be padded with blanks
    const [isFixed, comesFixed] = [target, staged].map((type) => type.startsWith('character('));
    if (wanted > length) return comesFixed ? `character varying(${wanted})` : staged;
    return isFixed ? `character varying(${length})` : target;
  }
  if (target === 'double precision' && staged === 'real') return target;
  if (target === 'real' && staged === 'double precision') return staged;
  return 'text';
}

function decimalOf(type: string): Decimal | null {
  if (type in wholeDigits) return { before: wholeDigits[type]!, after: 0 };
  if (type === 'numeric') return { before: Infinity, after: Infinity };
  const match = /^numeric\((\d+),(\d+)\)$/.exec(type);
  return match === null ? null : { before: Number(match[1]) - Number(match[2]), after: Number(match[2]) };
}

function textLength(type: string): number | null {
  if (type === 'text' || type === 'character varying') return Infinity;
  const match = /^character(?: varying)?\((\d+)\)$/.exec(type);
  return match === null ? null : Number(match[1]);
}

/**
 * Returns the value of `expression` in the form of XML Schema, when the column is converted to text. `fraction`: digits after the point
 * that the model gives it; a column that was widened for other values would add zeros.
 */
export function lexicalText(expression: string, type: string, fraction: number | null = null): string {
  if (type.endsWith('[]')) return lexicalList(expression, type.slice(0, -2));
  const digits = fraction === null ? null : (decimalOf(type)?.after ?? null);
  if (digits !== null && digits !== Infinity && digits > fraction!)
    return `CASE WHEN ${expression} = round(${expression}, ${fraction}) THEN round(${expression}, ${fraction}) ELSE trim_scale(${expression}) END::text`;
  switch (type) {
    case 'timestamp with time zone':
      // the session is in UTC, and no other part of the text is +00
      return `replace(replace(${expression}::text, ' ', 'T'), '+00', 'Z')`;
    case 'timestamp without time zone':
      return `replace(${expression}::text, ' ', 'T')`;
    case 'real':
    case 'double precision':
      return `replace(${expression}::text, 'Infinity', 'INF')`;
    default:
      return `${expression}::text`;
  }
}

/** The expression that is requested from the server, and the conversion that its text still needs. */
export interface SentText {
  readonly expression: string;
  /** for a date with time: the kind of value whose separator and time zone become those of XML Schema (`asMoment`); null: no conversion */
  readonly moment: 'local' | 'zoned' | null;
}

/** Types that the server sends in the form of XML Schema: a conversion to text on the server would take a third more time. */
const sentAsItIs =
  /^(?:smallint|integer|bigint|text|date|time without time zone)$|^(?:numeric|character varying)(?:\(|$)/;

/** Like `lexicalText`, for a column that is sent in the text format, in a session in UTC. */
export function sentText(expression: string, type: string, fraction: number | null): SentText {
  if (type === 'timestamp without time zone') return { expression, moment: 'local' };
  if (type === 'timestamp with time zone') return { expression, moment: 'zoned' };
  const text = lexicalText(expression, type, fraction);
  const isWhole = text === `${expression}::text` && sentAsItIs.test(type);
  return { expression: isWhole ? expression : text, moment: null };
}

const [blank, letterT, letterZ, plus] = [0x20, 0x54, 0x5a, 0x2b];

/** Rewrites a date with its time in place, in the form of XML Schema; returns the index of its end. */
export function asMoment(bytes: Uint8Array, from: number, to: number, kind: 'local' | 'zoned'): number {
  for (let at = from; at < to; at += 1) if (bytes[at] === blank) bytes[at] = letterT;
  // the session is in UTC, so the zone is +00
  if (kind === 'local' || bytes[to - 3] !== plus) return to;
  bytes[to - 3] = letterZ;
  return to - 2;
}

/** Returns items separated by a blank. */
function lexicalList(expression: string, itemType: string): string {
  switch (itemType) {
    case 'boolean':
      return `array_to_string(${expression}::text[], ' ')`;
    case 'timestamp with time zone':
    case 'timestamp without time zone':
      // a blank is part of the item until it is a T
      return `replace(regexp_replace(replace(array_to_string(${expression}, ','), ' ', 'T'), '[+]00(?=,|$)', 'Z', 'g'), ',', ' ')`;
    case 'real':
    case 'double precision':
      return `replace(array_to_string(${expression}, ' '), 'Infinity', 'INF')`;
    default:
      return `array_to_string(${expression}, ' ')`;
  }
}

function textAtOffset(instant: string, offset: string): string {
  const local = `(${instant} AT TIME ZONE 'UTC') + ${offset} * INTERVAL '1 minute'`;
  const ahead = `abs(${offset})`;
  return `${lexicalText(`(${local})`, 'timestamp without time zone')} || CASE WHEN ${offset} < 0 THEN '-' ELSE '+' END || to_char(${ahead} / 60, 'FM00') || ':' || to_char(${ahead} % 60, 'FM00')`;
}

/**
 * Returns `expression` of type `from` as a value of type `to`. `offset`: for an instant, an expression for the minutes ahead of UTC with
 * which it is written, NULL if that is `Z`.
 */
export function converted(
  expression: string,
  from: string,
  to: string,
  offset: string | null = null,
): string {
  if (from === to) return expression;
  if (to === 'text' && from === 'timestamp with time zone' && offset !== null)
    return `CASE WHEN ${offset} IS NULL THEN ${lexicalText(expression, from)} ELSE ${textAtOffset(expression, offset)} END`;
  return to === 'text' ? lexicalText(expression, from) : `${expression}::${to}`;
}

// Codes that the schema enumerates (`--codes`): the table `_codes`, and checks of columns. A column has a check as long as every row has a
// value of the list. Documents may have other values, and their rows are loaded nevertheless.

/** errors by which statements on codes can be refused: values that a type or an index does not accept, and names in use */
const codeRefusals = /^(?:22|42|54)/;
/** columns that one scan checks */
const columnsPerScan = 400;

/** A column whose values must be among these codes. */
export interface CheckedColumn extends CodedColumn {
  readonly codes: readonly string[];
}

export type CodesChoice = 'none' | 'table' | 'check';

/** Returns how earlier loads kept codes. */
export function existingCodes({ checks, codes }: ExistingTarget): CodesChoice {
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
    changes.push(`${name}: not filled with codes because an object that no load made has this name`);
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
        `${table}.${column}: has no CHECK of its codes because some values are not codes, such as ${shown(value)}`,
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
    if (!codeRefusals.test(sqlState(error) ?? '')) throw error;
    return (error as Error).message;
  }
}

// Views of business entities (`--views`). Only views that loads made are changed: their comment ends with a mark, and they belong to their
// loader. A view that nothing depends on blocks no change, and no fault of a view fails a load.

/**
 * errors by which a definition can be refused: its text, names in use, objects that depend on it, its size, and locks that others hold too
 * long
 */
const refusals = /^(?:0A|22|2B|42|54)|^55P03$/;

/** Drops the views of loads that use these tables (physical names), so that these can be changed; `publishViews` makes them again. */
export async function setViewsAside(
  publication: PostgresPublication,
  tables: readonly string[],
): Promise<void> {
  const { tx, target, sqlSchema, viewsAside } = publication;
  if (target.views.size === viewsAside.size) return;
  const schema = standardLiteral(sqlSchema);
  const using = await tx.unsafe<{ name: string; query: string }[]>(`
    SELECT v.relname AS name, pg_get_viewdef(v.oid) AS query FROM (${ownViews(schema)}) v
     WHERE v.free AND EXISTS (SELECT FROM pg_depend d JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
                     JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = ${schema}
                    WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = v.rule
                      AND t.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(tables))}::jsonb)))`);
  for (const { name, query } of using) {
    const view = target.views.get(name);
    if (view === undefined) continue;
    await tx.unsafe(`DROP VIEW ${relation(publication, name)}`);
    viewsAside.set(name, definition(publication, view, query.trim().replace(/;$/, '')));
  }
}

/** Drops views of loads whose names tables of this model need; the views get other names. */
export async function dropViewsOfNames(publication: PostgresPublication): Promise<void> {
  const { tx, plan, target, tables, viewsAside, changes } = publication;
  const names = tables.map(({ name }) => name).filter((name) => target.views.get(name)?.isFree === true);
  await runAll(
    tx,
    names.map((name) => `DROP VIEW ${relation(publication, name)}`),
  );
  for (const name of names) {
    viewsAside.set(name, []);
    if (plan.views !== true)
      changes.push(
        `${name}: view dropped because a table now has its name: --views makes it under another name`,
      );
  }
}

/** Makes the requested views over the current tables and columns, and recreates the dropped views. */
export async function publishViews(publication: PostgresPublication): Promise<void> {
  const { tx, sqlSchema, plan, tables, target, viewsAside, changes } = publication;
  if (plan.views !== true && !publication.merge.keepsHistory && target.views.size === 0) return;
  const made: string[] = [];
  const names = [...tables.map(({ name }) => name), sideTableNames.documents];
  const { tables: known } = await readTarget(tx, sqlSchema, names, 'read');
  for (const view of await viewsOfModel({ ...publication, known }, viewTypes)) {
    const known = viewsAside.get(view.name)?.length === 0 ? undefined : target.views.get(view.name);
    if (known === undefined && !view.isWanted) continue;
    const isPresent = known !== undefined && !viewsAside.has(view.name);
    viewsAside.delete(view.name);
    const comment = await markedComment(view);
    if (isPresent && known.comment === comment) continue;
    const statements = viewStatements(publication, view, comment);
    const refused = await makeView(publication, statements, isPresent ? known : null);
    if (refused === null) made.push(view.name);
    else if (known === undefined && ['42P07', '42710'].includes(refused.state))
      changes.push(`${view.name}: view not made because an object that no load made has this name`);
    else if (isPresent) changes.push(`${view.name}: the view stays as it was: ${refused.why}`);
    else changes.push(`${view.name}: no view could be made: ${refused.why}`);
  }
  if (made.length > 0) changes.push(`views made: ${made.join(', ')}`);
  for (const [name, statements] of viewsAside) {
    if (statements.length === 0) continue;
    const refused = await makeView(publication, statements, null);
    if (refused !== null)
      changes.push(`${name}: view dropped because it no longer fits its tables: ${refused.why}`);
  }
}

/** Returns statements that make a view, with the options and rights of an existing one of its name. */
export function viewStatements(
  publication: PostgresPublication,
  { name, query }: LoadView,
  comment: string,
): readonly string[] {
  const { views, newViewOptions: options } = publication.target;
  return definition(publication, { grants: [], options, ...views.get(name), name, comment }, query);
}

/** Returns why the server refuses a view, or null for a fault of another kind. */
export function viewRefusal(error: unknown): string | null {
  return refusals.test(sqlState(error) ?? '') ? (error as Error).message : null;
}

interface Refused {
  readonly state: string;
  readonly why: string;
}

/**
 * Makes a view, and returns null if that succeeds. An existing view is replaced if its columns stay, so that objects that depend on it may
 * stay; otherwise it is dropped and made again.
 */
async function makeView(
  publication: PostgresPublication,
  [create, ...others]: readonly string[],
  replaced: OwnView | null,
): Promise<Refused | null> {
  const attempt = async (statement: string): Promise<Refused | null> => {
    try {
      await publication.tx.savepoint((savepoint) => runAll(savepoint, [statement, ...others]));
      return null;
    } catch (error) {
      const why = viewRefusal(error);
      if (why === null) throw error;
      return { state: sqlState(error)!, why };
    }
  };
  if (replaced === null) return attempt(create!);
  const refused = await attempt(create!.replace('CREATE VIEW', 'CREATE OR REPLACE VIEW'));
  // invalid_table_definition: its columns differ
  return refused?.state === '42P16' && replaced.isFree
    ? attempt(`DROP VIEW ${relation(publication, replaced.name)};\n${create}`)
    : refused;
}

/** Returns statements for the view, its comment, and the rights on it. */
function definition(
  publication: PostgresPublication,
  { name, comment, options, grants }: Omit<OwnView, 'isFree'>,
  query: string,
): readonly string[] {
  const view = relation(publication, name);
  return [
    `CREATE VIEW ${view}${options === '' ? '' : ` WITH (${options})`} AS\n${query}`,
    `COMMENT ON VIEW ${view} IS ${standardLiteral(comment)}`,
    ...grants,
  ];
}

export const viewTypes: ViewTypes = {
  isText: (type) => /^(?:text|character)(?!.*\[\])/.test(type),
  isAsModelled: ({ type }, { sqlType }) => isOfType(type, sqlType),
};

/** A column of a table that existed before. */
interface ColumnChange {
  readonly name: string;
  /** types as `format_type` writes them */
  readonly from: string;
  readonly to: string;
}

/**
 * Throws AppError `conflict` if views use columns that must become wider, directly or through other views, because the database does not
 * change such columns. The message names all these views, with what to do.
 */
async function refuseForViews(
  publication: PostgresPublication,
  table: string,
  changes: readonly ColumnChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const names = standardLiteral(JSON.stringify(changes.map(({ name }) => name)));
  const found = await publication.tx.unsafe<{ readonly view: string; readonly column: string }[]>(`
    WITH RECURSIVE standing AS (
      SELECT r.ev_class AS view, a.attname::text AS "column"
        FROM pg_attribute a
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
        JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
       WHERE a.attrelid = ${standardLiteral(relation(publication, table))}::regclass
         AND a.attname IN (SELECT jsonb_array_elements_text(${names}::jsonb))
      UNION
      SELECT r.ev_class, s."column" FROM standing s
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.view
        JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.ev_class <> s.view)
    SELECT DISTINCT format('%I.%I', n.nspname, c.relname) AS view, s."column"
      FROM standing s JOIN pg_class c ON c.oid = s.view AND c.relkind IN ('v', 'm') JOIN pg_namespace n ON n.oid = c.relnamespace
     ORDER BY 1`);
  if (found.length === 0) return;
  const views = [...new Set(found.map(({ view }) => view))];
  const columns = changes
    .filter(({ name }) => found.some(({ column }) => column === name))
    .map(({ name, from, to }) => `${table}.${name} from ${from} to ${to}`);
  throw new AppError(
    'conflict',
    `the documents need wider columns (${columns.join(', ')}), which PostgreSQL refuses while views use them: ${views.join(', ')}. ` +
      'Nothing was loaded: save the definitions of these views (pg_get_viewdef), drop them, run the job again, and create them again.',
  );
}

// The tables.

/** Returns the statements for the indexes and comments of the table of documents, and for its primary key unless it `isKeyed`. */
function documentsStatements(publication: PostgresPublication, isKeyed: boolean): string[] {
  const table = physicalSideTable(sideTableDefinitions.documents, postgresql);
  return [
    ...(isKeyed ? [] : [`ALTER TABLE ${relation(publication, table.name)} ADD ${primaryKey(table)}`]),
    ...indexStatements(postgresql, publication.sqlSchema, table),
    ...commentStatements(postgresql, publication.sqlSchema, table),
  ];
}

/** Makes empty tables of the model. They get their keys with the others, except for hashed keys, which identify rows that exist already. */
export async function makeTables(
  publication: PostgresPublication,
  indexes: readonly number[],
): Promise<void> {
  const statements = indexes.map((index) => {
    const table = publication.tables[index]!;
    const columns = table.columns.map((column, at) => {
      const type = publication.widened.get(columnId(index, at));
      return `${doubleQuoted(column.name)} ${type === undefined ? column.sqlType : postgresql.typeName(type)}`;
    });
    if (publication.plan.keys === 'hash' && table.primaryKey.length > 0) columns.push(primaryKey(table));
    publication.createdTables.add(table.name);
    publication.present.add(table.name);
    return `CREATE TABLE ${relation(publication, table.name)} (${columns.join(', ')})`;
  });
  await runAll(publication.tx, statements);
}

/**
 * Alters an existing table so that it can hold these rows: adds missing columns, widens types, and drops NOT NULL if a row may leave the
 * column empty. `incoming`: the types of the staged columns, as `format_type` writes them.
 */
export async function adaptTable(
  publication: PostgresPublication,
  index: number,
  incoming: ReadonlyMap<string, string>,
): Promise<void> {
  const { tx } = publication;
  const table = publication.tables[index]!;
  const there = publication.target.tables.get(table.name)!;
  const { columns } = there;
  const columnsBefore = new Set(columns.keys());
  const comments: string[] = [];
  const wider: ColumnChange[] = [];
  const { alterations: found } = await findAlterations(publication, index, there, {
    foldedName: (name) => name,
    column: (at) => ({
      type: incoming.get(table.columns[at]!.name)!,
      nullable: table.columns[at]!.nullable || publication.nullAllowed.has(columnId(index, at)),
    }),
    async settle(known, at) {
      const type = incoming.get(table.columns[at]!.name)!;
      return (await showsInstants(publication, table.name, known, type))
        ? type
        : settledType(known.type, type);
    },
  });
  const alterations = found.map((alteration) => {
    if (alteration.kind === 'loosen')
      return `ALTER COLUMN ${doubleQuoted(alteration.there.name)} DROP NOT NULL`;
    const { at, type } = alteration;
    const { name } = table.columns[at]!;
    if (alteration.kind === 'add') {
      comments.push(name);
      columns.set(name, { name, type, notNull: false, hasDefault: false, comment: null });
      publication.addedColumns.add(columnId(index, at)).add(`${index}:`);
      return `ADD COLUMN ${doubleQuoted(name)} ${type}`;
    }
    const known = alteration.there;
    const offset = offsetBehind(publication, index, at, (other) => columnsBefore.has(other));
    const value = converted(doubleQuoted(name), known.type, type, offset);
    wider.push({ name, from: known.type, to: type });
    known.type = type;
    return `ALTER COLUMN ${doubleQuoted(name)} TYPE ${type} USING ${value}`;
  });
  if (alterations.length === 0) return;
  if (wider.length > 0) {
    await setViewsAside(publication, [table.name]);
    await dropChecks(publication, ({ column }) => wider.some(({ name }) => name === column), table.name);
  }
  await refuseForViews(publication, table.name, wider);
  await tx.unsafe(`ALTER TABLE ${relation(publication, table.name)} ${alterations.join(', ')}`);
  const added = { ...table, columns: table.columns.filter((column) => comments.includes(column.name)) };
  await runAll(tx, commentStatements(postgresql, publication.sqlSchema, added).slice(1));
}

/** Returns whether a column without a time zone can get one, because it has no value yet. */
async function showsInstants(
  { tx, sqlSchema }: PostgresPublication,
  table: string,
  known: { readonly name: string; readonly type: string },
  incoming: string,
): Promise<boolean> {
  const [there, staged] = [known.type, incoming].map((type) => type.replace(/\[\]$/, ''));
  if (there !== 'timestamp without time zone' || staged !== 'timestamp with time zone') return false;
  return !(await hasValues(tx, sqlSchema, table, known.name));
}

/** Adds primary keys, NOT NULL, unique keys, foreign keys, indexes and comments to the tables that this transaction made. */
export async function finishTables(publication: PostgresPublication): Promise<void> {
  const { tx, sqlSchema, plan } = publication;
  const comments: string[] = [];
  const keys: string[] = [];
  const created = [...publication.tables.entries()].filter(([, { name }]) =>
    publication.createdTables.has(name),
  );
  for (const [index, table] of created) {
    const hasKey = plan.keys === 'hash' && !publication.moved.has(publication.staging.get(index)!);
    const alterations = publication.keyed.has(table.name)
      ? ''
      : keyAlterations(table, index, { hasKey, nullAllowed: publication.nullAllowed });
    if (alterations !== '') keys.push(`ALTER TABLE ${relation(publication, table.name)} ${alterations}`);
    comments.push(...commentStatements(postgresql, sqlSchema, table));
  }
  await runAll(tx, keys);
  for (const [, table] of created) await addUniqueKeys(publication, table);
  await addForeignKeys(publication);
  await addKeyIndexes(publication);
  await runAll(tx, comments);
}

/** Returns the alterations for a primary key, unless the table `hasKey`, and NOT NULL; '' for none. */
export function keyAlterations(
  table: PhysicalTable,
  index: number,
  { hasKey, nullAllowed }: { readonly hasKey: boolean; readonly nullAllowed: ReadonlySet<string> },
): string {
  const key = hasKey || table.primaryKey.length === 0 ? [] : [`ADD ${primaryKey(table)}`];
  const required = table.columns.filter(
    (column, at) =>
      !column.nullable && !table.primaryKey.includes(column.name) && !nullAllowed.has(columnId(index, at)),
  );
  return [...key, ...required.map(({ name }) => `ALTER COLUMN ${doubleQuoted(name)} SET NOT NULL`)].join(
    ', ',
  );
}

/** Adds natural keys, which are optional: rows that violate one are loaded, and the key is left out. */
async function addUniqueKeys(publication: PostgresPublication, table: PhysicalTable): Promise<void> {
  for (const key of table.uniqueKeys) {
    const columns = key.columns.map(doubleQuoted).join(', ');
    try {
      await publication.tx.savepoint((savepoint) =>
        savepoint.unsafe(
          `ALTER TABLE ${relation(publication, table.name)} ADD CONSTRAINT ${doubleQuoted(key.name)} UNIQUE (${columns})`,
        ),
      );
    } catch (error) {
      // SQLSTATE: a unique violation; an index row that is too long; a name that is already used
      if (!['23505', '54000', '42P07', '42710'].includes(sqlState(error) ?? '')) throw error;
      publication.changes.push(
        `${table.name}: unique key ${key.name} not created because values repeat or are too long`,
      );
      publication.brokenKeys.push({ table: table.name, columns: key.columns });
    }
  }
}

/**
 * Adds foreign keys if one end is new, even if only the column is; a key whose parent does not exist yet waits for the job that makes it.
 * Other missing keys stay missing: they may have been dropped for a reason.
 */
async function addForeignKeys(publication: PostgresPublication): Promise<void> {
  const { createdTables, addedColumns, present, rekeyed, target } = publication;
  const known = new Set(target.foreignKeys.map((key) => JSON.stringify([key.table, key.column, key.parent])));
  const statements: string[] = [];
  for (const [index, table] of publication.tables.entries()) {
    if (!present.has(table.name)) continue;
    const staged = publication.staging.get(index)!;
    const brought = publication.moved.has(staged) ? staged.references.map(({ column }) => column) : [];
    for (const key of table.foreignKeys) {
      if (brought.includes(key.column)) continue;
      if (!createdTables.has(table.name)) {
        // a table of an earlier version that got no rows: the column is added with the first row
        if (target.tables.get(table.name)?.columns.has(key.column) === false) continue;
        const at = table.columns.findIndex(({ name }) => name === key.column);
        const isNew = createdTables.has(key.parentTable) || addedColumns.has(columnId(index, at));
        if (!isNew && !rekeyed.has(table.name)) continue;
        if (known.has(JSON.stringify([table.name, key.column, key.parentTable]))) continue;
      }
      if (key.parent !== -1 && !present.has(key.parentTable)) continue;
      statements.push(addForeignKey(postgresql, publication.sqlSchema, table, key));
    }
  }
  await runAll(publication.tx, statements);
}

export function primaryKey(table: Pick<PhysicalTable, 'primaryKey'>): string {
  return `PRIMARY KEY (${table.primaryKey.map(doubleQuoted).join(', ')})`;
}

/** each takes several locks of a table that PostgreSQL keeps in fixed memory */
const tablesPerTransaction = 100;

/**
 * Makes empty tables, a few at a time, if there are so many that the publishing transaction could not hold their locks. `begin`: takes the
 * target's lock and reads the existing tables.
 */
export async function makeTablesAhead(
  sql: Sql,
  plan: SinkPlan,
  staging: StagingArea,
  begin: (tx: TransactionSql) => Promise<PostgresPublication>,
): Promise<void> {
  if (!plan.allTables && plan.saveMode !== 'write-schema') return;
  const empty = plan.model.tables.flatMap((_, index) => (staging.get(index)!.rows === 0 ? [index] : []));
  if (empty.length <= tablesPerTransaction) return;
  for (let from = 0; from < empty.length; from += tablesPerTransaction) {
    await sql.begin(async (begun) => {
      const publication = await begin(begun as unknown as TransactionSql);
      await makeSideTables(publication);
      const some = empty.slice(from, from + tablesPerTransaction);
      await makeTables(
        publication,
        some.filter((index) => !publication.present.has(publication.tables[index]!.name)),
      );
      await finishTables(publication);
    });
  }
}

interface TableMove {
  readonly staged: StagedTable;
  /** the name that the table gets in the target, which has no table of that name */
  readonly name: string;
}

/** Makes staged tables the target's own, with their rows, keys and constraints, which get the names that they have in the target. */
export async function moveStaged(
  publication: PostgresPublication,
  moves: readonly TableMove[],
): Promise<void> {
  const { tx, sqlSchema, staging } = publication;
  const statements: string[] = [];
  for (const { staged, name } of moves) {
    const there = `${doubleQuoted(sqlSchema)}.${doubleQuoted(staged.name)}`;
    if (there !== staged.relation)
      statements.push(`ALTER TABLE ${staged.relation} SET SCHEMA ${doubleQuoted(sqlSchema)}`);
    statements.push(`ALTER TABLE ${there} RENAME TO ${doubleQuoted(name)}`);
    publication.moved.add(staged);
  }
  await runAll(tx, statements);
  await renameKeys(
    publication,
    moves.filter(({ staged }) => staged.keyed),
  );
  if (staging.isShared)
    await renameRequired(
      publication,
      moves.map(({ name }) => name),
    );
}

/**
 * Puts the staged table in place of the table of documents that this transaction has made; its keys need not be shifted. Returns false if
 * there was a table before, or if the staged rows are temporary.
 */
export async function moveDocuments(publication: PostgresPublication, staged: StagedTable): Promise<boolean> {
  const { tx, target, merging } = publication;
  const name = sideTableNames.documents;
  if (!staged.form.logged || merging !== null || target.hasDefaultGrants || target.tables.has(name))
    return false;
  await tx.unsafe(`DROP TABLE ${relation(publication, name)}`);
  await moveStaged(publication, [{ staged, name }]);
  await runAll(tx, documentsStatements(publication, staged.keyed));
  return true;
}

const usualKeyName = (table: string): string => `${truncateToBytes(table, 58)}_pkey`;

/** Renames keys: a key that was made in staging has a name from there; it gets the name that the database would have chosen here. */
async function renameKeys(publication: PostgresPublication, moves: readonly TableMove[]): Promise<void> {
  const { tx, sqlSchema } = publication;
  const names = JSON.stringify(moves.map(({ name }) => name));
  const keys = await tx.unsafe<{ table: string; name: string }[]>(
    `SELECT c.relname AS table, k.conname AS name FROM jsonb_array_elements_text(${standardLiteral(names)}::jsonb) name
       JOIN pg_class c ON c.relname = name JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
       JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'`,
  );
  const nameOf = new Map(keys.map(({ table, name }) => [table, name]));
  const wanted = JSON.stringify([...nameOf.keys()].map(usualKeyName));
  const found = await tx.unsafe<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
      WHERE c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(wanted)}::jsonb))`,
  );
  const taken = new Set(found.map(({ name }) => name));
  const statements = moves.flatMap(({ staged, name: table }) => {
    const present = nameOf.get(table);
    if (present === undefined) return [];
    // tables whose long names begin the same get the same usual key name; the end of a staged name is unique
    const own = staged.name.split('_').slice(-2).join('_');
    const usual = usualKeyName(table);
    const name = taken.has(usual) ? truncateToBytes(`${truncateToBytes(table, 40)}_pkey_${own}`, 63) : usual;
    taken.add(name);
    return [
      `ALTER TABLE ${relation(publication, table)} RENAME CONSTRAINT ${doubleQuoted(present)} TO ${doubleQuoted(name)}`,
    ];
  });
  await runAll(tx, statements);
}

/** Gives the constraints the names that the database would have chosen here. `tables`: physical names. */
async function renameRequired(publication: PostgresPublication, tables: readonly string[]): Promise<void> {
  const { tx, sqlSchema } = publication;
  const found = await tx.unsafe<{ table: string; column: string; name: string; isStaged: boolean }[]>(
    `SELECT t.relname AS table, a.attname AS column, k.conname AS name, starts_with(k.conname, ${standardLiteral(stagedStart)}) AS "isStaged"
       FROM jsonb_array_elements_text(${standardLiteral(JSON.stringify(tables))}::jsonb) name
       JOIN pg_class t ON t.relname = name JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
       JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'n'
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1]`,
  );
  const taken = new Set(found.map(({ table, name }) => JSON.stringify([table, name])));
  const statements = found.flatMap(({ table, column, name, isStaged }) => {
    const wanted = constraintName(table, column, 'not_null');
    const id = JSON.stringify([table, wanted]);
    if (!isStaged || taken.has(id)) return [];
    taken.add(id);
    return [
      `ALTER TABLE ${relation(publication, table)} RENAME CONSTRAINT ${doubleQuoted(name)} TO ${doubleQuoted(wanted)}`,
    ];
  });
  await runAll(tx, statements);
}

/** the start of the names of staged tables, and of objects made with them */
const stagedStart = `${ownPrefix}staging_`;

interface PresentIndex {
  readonly table: string;
  readonly column: string;
  readonly name: string;
  /** made in staging, with a name from there */
  readonly isStaged: boolean;
}

/**
 * Makes the indexes that tables and columns of this transaction lack, and gives indexes that came with a moved table the name they would
 * have had here. Tables that existed before get indexes only if the job requests them: an index may have been dropped for a reason.
 */
async function addKeyIndexes(publication: PostgresPublication): Promise<void> {
  const { plan, tables, createdTables, present, addedColumns, sqlSchema, tx } = publication;
  const choice = plan.indexes ?? 'keys';
  if (choice === 'none') return;
  const wanted: { readonly table: string; readonly index: KeyIndex }[] = [];
  for (const [at, table] of tables.entries()) {
    if (!present.has(table.name)) continue;
    const isWhole = createdTables.has(table.name) || plan.indexes !== undefined;
    if (!isWhole && !addedColumns.has(`${at}:`)) continue;
    for (const index of keyIndexes(plan.model, at, table, choice)) {
      const column = table.columns.findIndex(({ name }) => name === index.column);
      if (isWhole || addedColumns.has(columnId(at, column))) wanted.push({ table: table.name, index });
    }
  }
  if (wanted.length === 0) return;
  const there = await presentIndexes(publication, [...new Set(wanted.map(({ table }) => table))]);
  const covered = new Map(there.map((index) => [JSON.stringify([index.table, index.column]), index]));
  const name = await freeNames(
    publication,
    wanted.map(({ table, index }) => constraintName(table, index.column, 'idx')),
  );
  const statements: string[] = [];
  let created = 0;
  for (const { table, index } of wanted) {
    const known = covered.get(JSON.stringify([table, index.column]));
    if (known !== undefined && !known.isStaged) continue;
    const own = name(constraintName(table, index.column, 'idx'));
    const quoted = `${doubleQuoted(sqlSchema)}.${doubleQuoted(own)}`;
    if (known === undefined) {
      statements.push(keyIndexStatement(postgresql, sqlSchema, table, index, { name: own }));
      created += 1;
    } else
      statements.push(
        `ALTER INDEX ${doubleQuoted(sqlSchema)}.${doubleQuoted(known.name)} RENAME TO ${doubleQuoted(own)}`,
      );
    statements.push(`COMMENT ON INDEX ${quoted} IS ${standardLiteral(keyIndexMark)}`);
  }
  const started = performance.now();
  await runAll(tx, statements);
  publication.indexes.count += created;
  publication.indexes.seconds += (performance.now() - started) / 1000;
}

/** Returns indexes that find a row by the value of one column: those that begin with it, and contain all rows that have a value. */
async function presentIndexes(
  { tx, sqlSchema }: PostgresPublication,
  names: readonly string[],
): Promise<readonly PresentIndex[]> {
  return tx.unsafe<PresentIndex[]>(
    `SELECT t.relname AS table, a.attname AS column, c.relname AS name, starts_with(c.relname, ${standardLiteral(stagedStart)}) AS "isStaged"
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
       JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND i.indisvalid
        AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname))
        AND t.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(names))}::jsonb))`,
  );
}

/** Returns the wanted name, or, if another object has it, the next one with a number. */
async function freeNames(
  { tx, sqlSchema }: PostgresPublication,
  wanted: readonly string[],
): Promise<(usual: string) => string> {
  const found = await tx.unsafe<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${standardLiteral(sqlSchema)}
        AND (c.relname ~ '_idx[0-9]*$' OR c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(wanted))}::jsonb)))`,
  );
  const taken = new Set(found.map(({ name }) => name));
  return (usual) => {
    let name = usual;
    for (let count = 1; taken.has(name); count += 1)
      name = `${truncateToBytes(usual.slice(0, -'_idx'.length), 63 - `_idx${count}`.length)}_idx${count}`;
    taken.add(name);
    return name;
  };
}

/** The check of a single row costs more than ten times its share of a check of the whole table. */
const wholeTableFactor = 10;
const bulkRows = 10_000;

/**
 * Drops the foreign keys of tables that get many rows. They are made again before the end of the transaction, and checked once for a whole
 * table instead of row by row. That needs exclusive access to the table: if another session reads it for longer than a moment, the keys
 * stay.
 */
export async function loosenForeignKeys(publication: PostgresPublication): Promise<void> {
  const { tx, target, staging, tables, present } = publication;
  for (const [index, { name }] of tables.entries()) {
    const staged = staging.get(index)!;
    if (staged.rows < bulkRows || !present.has(name)) continue;
    const keys = target.foreignKeys.filter((key) => key.table === name);
    if (keys.length === 0) continue;
    const [sizes] = await tx.unsafe<[{ there: number; staged: number }]>(
      `SELECT pg_relation_size(${standardLiteral(relation(publication, name))}::regclass) AS there,
              pg_relation_size(${standardLiteral(staged.relation)}::regclass) AS staged`,
    );
    if (sizes.there > sizes.staged * wholeTableFactor) continue;
    const drops = keys.map((key) => `DROP CONSTRAINT ${doubleQuoted(key.name)}`);
    try {
      await tx.savepoint((savepoint) =>
        savepoint.unsafe(
          `SET LOCAL lock_timeout = '1s'; ALTER TABLE ${relation(publication, name)} ${drops.join(', ')}; SET LOCAL lock_timeout = '60s'`,
        ),
      );
    } catch (error) {
      // lock_not_available, deadlock_detected
      if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error;
      continue;
    }
    publication.rekeyed.add(name);
    target.foreignKeys = target.foreignKeys.filter((key) => key.table !== name);
  }
}

/**
 * Defers keys to tables that came earlier in a previous version of the model and come later in this one. Rows are inserted into tables in
 * the order of the model. If the tables that a key refers to come later, it is checked at the end of the transaction from now on
 * (`DEFERRABLE INITIALLY DEFERRED`), like such keys in a new target.
 */
export async function deferTurnedKeys(publication: PostgresPublication): Promise<void> {
  const { target, tables, staging } = publication;
  const places = new Map(tables.map(({ name }, at) => [name, at]));
  const turned = target.foreignKeys.filter(({ table, parent, deferrable }) => {
    const [at, parentAt] = [places.get(table), places.get(parent)];
    if (deferrable || at === undefined || parentAt === undefined) return false;
    return parentAt > at && staging.get(at)!.created && staging.get(parentAt)!.created;
  });
  await runAll(
    publication.tx,
    turned.map(
      ({ table, name }) =>
        `ALTER TABLE ${relation(publication, table)} ALTER CONSTRAINT ${doubleQuoted(name)} DEFERRABLE INITIALLY DEFERRED`,
    ),
  );
}
