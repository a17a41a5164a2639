/** Whether a query of others calls what it may: looked at as DuckDB itself parses it, before it is run. */
import { AppError } from '../../../errors.ts';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { allowedFunctions, allowedTableFunctions } from './allowed-functions.ts';

type Read = <T>(sql: string) => Promise<T[]>;

/** of names without a schema, those of DuckDB's own catalogues */
const ownCatalogues = /^(?:duckdb|pragma|pg|sqlite)_/i;

/**
 * Also looks at the views and macros of the file, which a query may use. AppError `invalid_option` names what is not allowed, or says that
 * it is no SELECT.
 */
export async function checkQuery(read: Read, query: string, label: string): Promise<void> {
  const faults = new Set(await faultsOf(read, query, label));
  const views = await read<{ name: string; sql: string }>(
    `SELECT view_name AS name, sql FROM duckdb_views() WHERE NOT internal`,
  );
  const used = query.toLowerCase();
  for (const { name, sql } of views) {
    const [, select] =
      /^\s*create\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?view\s.*?\sas\s+(.*?);?\s*$/is.exec(sql) ?? [];
    if (!used.includes(name.toLowerCase()) && views.length > mostViews) continue;
    for (const fault of await faultsOf(read, select ?? '', label))
      faults.add(`${fault} (in the view ${name})`);
  }
  const macros = await read<{ name: string }>(
    `SELECT DISTINCT function_name AS name FROM duckdb_functions() WHERE NOT internal`,
  );
  for (const { name } of macros)
    if (allowedFunctions.has(name.toLowerCase()) || allowedTableFunctions.has(name.toLowerCase()))
      faults.add(`the macro ${name} of the file has the name of a function`);
  const [first] = faults;
  if (first !== undefined)
    throw new AppError(
      'invalid_option',
      `${label}: --query may not use ${first}. Use functions that compute with values of the tables of the file`,
    );
}

/** Of a file with more views, those alone are looked at that the query names. */
const mostViews = 1000;

async function faultsOf(read: Read, query: string, label: string): Promise<string[]> {
  const [row] = await read<{ tree: string }>(`SELECT json_serialize_sql(${standardLiteral(query)}) AS tree`);
  const parsed = JSON.parse(row!.tree) as { error: boolean; error_message?: string; statements?: unknown[] };
  if (parsed.error || parsed.statements?.length !== 1)
    throw new AppError(
      'invalid_option',
      `${label}: --query must be one SELECT${parsed.error_message === undefined ? '' : ` (${parsed.error_message.slice(0, 500)})`}`,
    );
  const faults: string[] = [];
  const rest: unknown[] = [parsed.statements[0]];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const node = next as Readonly<Record<string, unknown>>;
    const { type, function_name: name, function: called } = node;
    if (type === 'TABLE_FUNCTION' && typeof called === 'object' && called !== null) {
      const { function_name: table, children } = called as Readonly<Record<string, unknown>>;
      if (!allowedTableFunctions.has(String(table).toLowerCase()))
        faults.push(`the table function ${String(table)}`);
      rest.push(...((children as unknown[] | undefined) ?? []));
      for (const [member, value] of Object.entries(node)) if (member !== 'function') rest.push(value);
      continue;
    }
    if (typeof name === 'string' && !allowedFunctions.has(name.toLowerCase()))
      faults.push(`the function ${name}`);
    if (type === 'SHOW_REF') faults.push('SHOW or DESCRIBE');
    if (type === 'BASE_TABLE') {
      const { table_name: table, schema_name: schema, catalog_name: catalog } = node;
      const isOwn =
        /^(?:information_schema|pg_catalog)$/i.test(String(schema)) ||
        /^(?:system|temp)$/i.test(String(catalog)) ||
        ownCatalogues.test(String(table));
      if (isOwn) faults.push(`the catalogue table ${String(table)}`);
    }
    for (const value of Object.values(node)) if (typeof value === 'object') rest.push(value);
  }
  return faults;
}
