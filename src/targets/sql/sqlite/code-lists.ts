/** Codes that the schema enumerates (`--codes`), in the table `_codes`. SQLite adds no checks to tables that are there. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { codeRows } from '../../../engine/sql/code-lists.ts';
import { codesTable } from '../../../engine/model/side-tables.ts';
import { codesOf } from '../../../adapters/row-sinks/code-lists.ts';
import { foldedName } from './database.ts';
import { readTables, sideTable } from './tables.ts';
import { runAll, type SqlitePublication } from './publication.ts';

export async function publishCodes({ database, plan, drawn, changes }: SqlitePublication): Promise<void> {
  if (plan.codes === 'none') return;
  const { name, columns, comment } = codesTable;
  const known = readTables(database);
  const there = known.get(name);
  const isOurs = there?.isView === false && there.sql.includes(`/* ${comment} */`);
  if (plan.codes === undefined && !isOurs) return;
  if (!isOurs && (there !== undefined || drawn.tables.some((table) => foldedName(table.name) === name))) {
    changes.push(`${name}: not filled with codes, no load made what has this name`);
    return;
  }
  if (plan.codes === 'check')
    changes.push('SQLite adds no checks of codes to tables, --codes check fills _codes alone');
  const rows = codeRows(await codesOf(plan, (table) => known.has(foldedName(drawn.tables[table]!.name))));
  if (rows.length === 0) return;
  if (!isOurs) await runAll(database, sideTable(codesTable));
  const names = columns.map((column) => doubleQuoted(column.name)).join(', ');
  const insert = database.prepareChange(
    `INSERT INTO ${doubleQuoted(name)} (${names}) VALUES (?, ?, ?, ?)
     ON CONFLICT (type, code) DO UPDATE SET label = coalesce(excluded.label, label), documentation = coalesce(excluded.documentation, documentation)`,
  );
  for (const row of rows) insert.run(row.type, row.code, row.label, row.documentation);
}
