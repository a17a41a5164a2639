/** The table `_codes` of the values that the schema enumerates (`--codes`). These databases add no checks to tables that are there. */
import { codesTable } from '../../engine/model/side-tables.ts';
import { codeRows } from '../../engine/sql/code-lists.ts';
import { sideTable } from '../../engine/sql/statements.ts';
import { codesOf } from '../rows/code-lists.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { foundTable, type Publication } from './publication.ts';

const rowsPerStatement = 1000;

export async function publishCodes<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<void> {
  const { database, driver, plan, drawn, changes } = publication;
  if (plan.codes === 'none') return;
  const { quote, literal } = driver.dialect;
  publication.known = await driver.readTables(database);
  const { name, columns, comment } = codesTable;
  const there = publication.known.get(name);
  const isOurs = there?.isView === false && there.comment === comment;
  if (plan.codes === undefined && !isOurs) return;
  if (!isOurs && (there !== undefined || drawn.tables.some((one) => driver.foldedName(one.name) === name))) {
    changes.push(`${name}: not filled with codes, no load made what has this name`);
    return;
  }
  if (plan.codes === 'check')
    changes.push(`${driver.title} adds no checks of codes to tables, --codes check fills _codes alone`);
  const codes = await codesOf(
    plan,
    (table) => foundTable(publication, table) !== undefined || publication.made.has(table),
  );
  const rows = codeRows(codes).map(({ type, code, label, documentation }) =>
    [type, code, label, documentation].map((value) => (value === null ? 'NULL' : literal(value))),
  );
  if (rows.length === 0) return;
  if (!isOurs) await runAll(database, sideTable(driver.dialect, codesTable));
  const names = columns.map((column) => quote(column.name)).join(', ');
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const values = rows.slice(from, from + rowsPerStatement).map((row) => `(${row.join(', ')})`);
    await database.run(
      `INSERT INTO ${quote(name)} (${names}) VALUES ${values.join(', ')}
       ON CONFLICT (type, code) DO UPDATE SET label = coalesce(excluded.label, label), documentation = coalesce(excluded.documentation, documentation)`,
    );
  }
}
