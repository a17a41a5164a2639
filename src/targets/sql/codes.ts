/** The table `_codes` of the values that the schema enumerates (`--codes`). These databases add no checks to tables that are there. */
import { codesTable } from '../../engine/model/side-tables.ts';
import { codeRows, type ModelCodes } from '../../engine/sql/code-lists.ts';
import { sideTable } from '../../engine/sql/statements.ts';
import { codesOf } from '../rows/code-lists.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import { foundTable, type Publication, type PublishingScope } from './publication.ts';

const rowsPerStatement = 1000;

export async function publishCodes<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<void> {
  const { database, driver, plan, drawn, changes } = publication;
  if (plan.codes === 'none') return;
  publication.known = await driver.readTables(database);
  const { name, comment } = codesTable;
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
  await fillCodes(publication, codes, isOurs);
}

/** Adds codes to `_codes`, which is made unless it `isThere`. Labels and documentation that a code has already stay if the model has none. */
export async function fillCodes<Database extends SqlDatabase>(
  { database, driver }: Pick<PublishingScope<Database>, 'database' | 'driver'>,
  codes: ModelCodes,
  isThere: boolean,
): Promise<void> {
  const { name, columns } = codesTable;
  const { quote, literal } = driver.dialect;
  const rows = codeRows(codes).map(({ type, code, label, documentation }) =>
    [type, code, label, documentation].map((value) => (value === null ? 'NULL' : literal(value))),
  );
  if (rows.length === 0) return;
  const { sqlSchema } = driver;
  if (!isThere) await runAll(database, sideTable(driver.dialect, codesTable, { sqlSchema }));
  const names = columns.map((column) => quote(column.name)).join(', ');
  const [label, documentation] = ['label', 'documentation'].map(
    (one) => `coalesce(excluded.${one}, ${name}.${one})`,
  );
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    const values = rows.slice(from, from + rowsPerStatement).map((row) => `(${row.join(', ')})`);
    await database.run(
      `INSERT INTO ${relationOf(driver)(name)} (${names}) VALUES ${values.join(', ')}
       ON CONFLICT (type, code) DO UPDATE SET label = ${label}, documentation = ${documentation}
        WHERE ${name}.label IS DISTINCT FROM ${label} OR ${name}.documentation IS DISTINCT FROM ${documentation}`,
    );
  }
}
