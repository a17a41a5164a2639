/** Lists of codes in SQL: the rows of `_codes`, and checks of columns (PostgreSQL). */
import type { Code, CodeList, EnumeratedValues } from '../metadata/enumerations.ts';
import { codesTable } from '../model/side-tables.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { stableHash, truncateToBytes, constraintName } from '../map/names/identifiers.ts';
import { doubleQuoted, qualified, standardLiteral, type Dialect } from './dialect.ts';
import type { PhysicalTable } from './physical-model.ts';

export interface CodedColumn {
  readonly table: number;
  readonly column: number;
  /** names of the types that its values are of */
  readonly types: readonly string[];
}

export interface ModelCodes {
  /** keyed by the names of their types */
  readonly lists: ReadonlyMap<string, CodeList>;
  readonly columns: readonly CodedColumn[];
}

/** Returns the code lists of the columns of these tables. `valuesAt`: by indexes of table and column. */
export function modelCodes(
  { tables }: Pick<RelationalModel, 'tables'>,
  valuesAt: (table: number, column: number) => EnumeratedValues | null,
  isWanted: (table: number) => boolean,
): ModelCodes {
  const lists = new Map<string, CodeList>();
  const columns: CodedColumn[] = [];
  for (const [table, { columns: own }] of tables.entries()) {
    if (!isWanted(table)) continue;
    for (const column of own.keys()) {
      const found = valuesAt(table, column);
      if (found === null) continue;
      for (const list of found.lists) lists.set(list.type, list);
      columns.push({ table, column, types: found.lists.map(({ type }) => type) });
    }
  }
  return { lists, columns };
}

/** Rows of `_codes`, each type and code once. */
export function codeRows({
  lists,
}: Pick<ModelCodes, 'lists'>): readonly (Code & { readonly type: string })[] {
  return [...lists.values()].flatMap(({ type, codes }) => codes.map((code) => ({ type, ...code })));
}

/** End of the comment of a check that loads make and drop. */
export const checkMark = 'made by the load, which drops it for values that are not in the list';

/** Returns the comment that identifies a list of codes. The comment does so because the database rewrites a condition in its own form. */
export function checkComment(codes: readonly string[]): string {
  return `codes of the schema (${stableHash(JSON.stringify(codes.toSorted()))}), ${checkMark}`;
}

/**
 * Returns the condition that a (quoted) column of PostgreSQL has one of the codes, or that all items of a list do. Returns null if the
 * column's type no longer allows the test. `sqlType`: as the dialect or `format_type` writes it.
 */
export function amongCodes(column: string, sqlType: string, codes: readonly string[]): string | null {
  const [item, isList] = sqlType.endsWith('[]') ? [sqlType.slice(0, -2), true] : [sqlType, false];
  const isText = /^(?:text|character|varchar|char)/.test(item);
  const isNumber =
    /^(?:smallint|integer|bigint|numeric)/.test(item) &&
    codes.every((code) => /^[+-]?\d+(?:\.\d+)?$/.test(code));
  if (!isText && !isNumber) return null;
  const values = codes.map(standardLiteral).join(', ');
  return isList ? `${column} <@ ARRAY[${values}]::${sqlType}` : `${column} IN (${values})`;
}

export interface CodeCheck {
  /** quoted, with its schema */
  readonly table: string;
  readonly name: string;
  /** condition as returned by `amongCodes` */
  readonly condition: string;
  readonly codes: readonly string[];
}

/** Existing rows are not checked (`NOT VALID`). */
export function checkStatements({ table, name, condition, codes }: CodeCheck): string[] {
  return [
    `ALTER TABLE ${table} ADD CONSTRAINT ${doubleQuoted(name)} CHECK (${condition}) NOT VALID`,
    `COMMENT ON CONSTRAINT ${doubleQuoted(name)} ON ${table} IS ${standardLiteral(checkComment(codes))}`,
  ];
}

/** Statements that fill `_codes`, each with its terminator. */
export function codeInserts(dialect: Dialect, sqlSchema: string | null, codes: ModelCodes): string[] {
  const literal = (text: string | null): string => (text === null ? 'NULL' : dialect.literal(text));
  const names = codesTable.columns.map(({ name }) => dialect.quote(name)).join(', ');
  const into = `INSERT INTO ${qualified(dialect, { sqlSchema, table: codesTable.name })} (${names}) VALUES`;
  const rows = codeRows(codes).map(
    ({ type, code, label, documentation }) =>
      `(${[type, code, label, documentation].map(literal).join(', ')})`,
  );
  const most = dialect.rowsPerInsert;
  return Array.from({ length: Math.ceil(rows.length / most) }, (_, at) => {
    const some = rows.slice(at * most, (at + 1) * most);
    return `${into}${some.length === 1 ? ' ' : '\n  '}${some.join(',\n  ')};`;
  });
}

/** Checks of all enumerated columns of tables that are made anew, by statement with its terminator. */
export function codeChecks(
  sqlSchema: string | null,
  model: RelationalModel,
  tables: readonly PhysicalTable[],
  { lists, columns }: ModelCodes,
): string[] {
  const taken = new Set<string>();
  return columns.flatMap(({ table, column, types }) => {
    const { name: tableName, columns: physical } = tables[table]!;
    const { name: columnName, sqlType } = physical[column]!;
    const codes = [...new Set(types.flatMap((type) => lists.get(type)!.codes.map(({ code }) => code)))];
    const condition = amongCodes(doubleQuoted(columnName), sqlType, codes);
    if (condition === null) return [];
    const quoted = `${sqlSchema === null ? '' : `${doubleQuoted(sqlSchema)}.`}${doubleQuoted(tableName)}`;
    const name = freeName(constraintName(tableName, columnName, 'codes'), (one) =>
      taken.has(`${tableName} ${one}`),
    );
    taken.add(`${tableName} ${name}`);
    return checkStatements({ table: quoted, name, condition, codes }).map((statement) => `${statement};`);
  });
}

/** Returns the wanted name, or, if it is used, the first free one with a number. */
export function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  for (let count = 2; isTaken(name); count += 1)
    name = `${truncateToBytes(wanted, 63 - String(count).length)}${count}`;
  return name;
}
