/** The table `_codes` of the values that the schema enumerates (`--codes`). These databases add no checks to existing tables. */
import { codesTable } from '../../engine/model/side-tables.ts';
import { codeRows, type ModelCodes } from '../../engine/sql/code-lists.ts';
import { sideTable } from '../../engine/sql/statements.ts';
import { codesOf } from '../rows/code-lists.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import { foundTable, type Publication, type PublishingScope, type WaitingRows } from './publication.ts';

const rowsPerStatement = 1000;

/** Makes the table if it is wanted. Returns the codes to fill it with, or null if it gets none. */
export async function readyCodes<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<ModelCodes | null> {
  const { driver, plan, drawn, changes } = publication;
  if (plan.codes === 'none') return null;
  const { name, comment } = codesTable;
  const there = publication.known.get(name);
  const isOurs = there?.isView === false && there.comment === comment;
  if (plan.codes === undefined && !isOurs) return null;
  if (!isOurs && (there !== undefined || drawn.tables.some((one) => driver.foldedName(one.name) === name))) {
    changes.push(`${name}: not filled with codes, no load made what has this name`);
    return null;
  }
  if (plan.codes === 'check')
    changes.push(`${driver.title} adds no checks of codes to tables, --codes check fills _codes alone`);
  const codes = await codesOf(
    plan,
    (table) => foundTable(publication, table) !== undefined || publication.made.has(table),
  );
  if (!isOurs) await makeCodes(publication, codes);
  return codes;
}

/** Makes the table unless there are no codes for it. */
export async function makeCodes<Database extends SqlDatabase>(
  { database, driver }: Pick<PublishingScope<Database>, 'database' | 'driver'>,
  codes: ModelCodes,
): Promise<void> {
  const { dialect, sqlSchema } = driver;
  if (codeRows(codes).length > 0) await runAll(database, sideTable(dialect, codesTable, { sqlSchema }));
}

/** Adds codes to `_codes`. Labels and documentation that a code has already stay if the model has none. */
export async function fillCodes<Database extends SqlDatabase>(
  { database, driver }: Pick<PublishingScope<Database>, 'database' | 'driver'>,
  codes: ModelCodes,
): Promise<void> {
  const { name, columns } = codesTable;
  const { quote, literal } = driver.dialect;
  const rows = codeRows(codes).map(({ type, code, label, documentation }) =>
    [type, code, label, documentation].map((value) => (value === null ? 'NULL' : literal(value))),
  );
  const names = columns.map((column) => quote(column.name)).join(', ');
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const values = rows.slice(from, from + rowsPerStatement).map((row) => `(${row.join(', ')})`);
    await database.run(
      `INSERT INTO ${relationOf(driver)(name)} (${names}) VALUES ${values.join(', ')} ${driver.keepCodeTexts}`,
    );
  }
}
