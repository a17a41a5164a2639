/** Codes that the schema enumerates (`--codes`), in the table `_codes`. DuckDB adds no checks to tables that are there. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { codeRows } from '../../../engine/sql/code-lists.ts';
import { codesTable } from '../../../engine/model/side-tables.ts';
import { codesOf } from '../../../adapters/row-sinks/code-lists.ts';
import { foldedName } from './database.ts';
import { readTables, sideTable } from './tables.ts';
import { runAll, type DuckDbPublication } from './publication.ts';

const rowsPerStatement = 1000;

export async function publishCodes({ database, plan, tables, changes }: DuckDbPublication): Promise<void> {
  if (plan.codes === 'none') return;
  const { name, columns } = codesTable;
  const [ours] = await database.read<{ comment: string | null }>(
    `SELECT comment FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'main' AND lower(table_name) = ${standardLiteral(name)}`,
  );
  const isOurs = ours?.comment === codesTable.comment;
  if (plan.codes === undefined && !isOurs) return;
  const known = await readTables(database);
  if (!isOurs && (known.has(name) || tables.some((table) => foldedName(table.name) === name))) {
    changes.push(`${name}: not filled with codes, no load made what has this name`);
    return;
  }
  if (plan.codes === 'check')
    changes.push('DuckDB adds no checks of codes to tables, --codes check fills _codes alone');
  const rows = codeRows(await codesOf(plan, (table) => known.has(foldedName(tables[table]!.name))));
  if (rows.length === 0) return;
  if (!isOurs) await runAll(database, sideTable(codesTable));
  const names = columns.map((column) => doubleQuoted(column.name)).join(', ');
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const values = rows
      .slice(from, from + rowsPerStatement)
      .map((row) => `(${[row.type, row.code, row.label, row.documentation].map(literal).join(', ')})`);
    await database.run(
      `INSERT INTO ${doubleQuoted(name)} (${names}) VALUES ${values.join(', ')}
       ON CONFLICT (type, code) DO UPDATE SET label = coalesce(excluded.label, label), documentation = coalesce(excluded.documentation, documentation)`,
    );
  }
}

function literal(value: string | null): string {
  return value === null ? 'NULL' : standardLiteral(value);
}
