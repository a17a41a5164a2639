/** The publishing transaction: staged rows become rows of the target, all of them at once. */
import { sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import { sideTable } from '../../engine/sql/statements.ts';
import { columnId, widenedWords } from '../rows/unfit-columns.ts';
import type { PhysicalTable } from '../../engine/sql/physical-model.ts';
import type { Merging } from '../rows/merging.ts';
import { nothingRemoved } from '../rows/removed-documents.ts';
import { textColumns, writtenTextStatement, type TextUpdates } from '../rows/written-texts.ts';
import { publishCodes } from './codes.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import { keepKeys, keyOffsets } from './keys.ts';
import { noteJob, sumOf } from './ledger.ts';
import { beginMerge } from './merge.ts';
import { clearTables } from './overwrite.ts';
import { foundTable, type Publication, type PublishingScope } from './publication.ts';
import { notesOf, type RemovalWays } from './removal.ts';
import { dropViewsOfNames, publishViews } from './views.ts';

/** Returns the number of rows added, by table name of the model. */
export async function publishRows<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<Record<string, number>> {
  const { database, driver, plan, staged } = publication;
  await dropViewsOfNames(publication);
  await makeSideTables(publication);
  publication.known = await driver.readTables(database);
  if (plan.saveMode === 'overwrite') {
    await clearTables(publication);
    publication.known = await driver.readTables(database);
  }
  publication.drawn = driver.drawForRows?.(publication) ?? publication.drawn;
  const offsets = await keyOffsets(publication);
  // before any row is deleted: DuckDB commits no transaction that alters a table after it deleted rows of it
  const texts = await readyTables(publication);
  if (plan.saveMode === 'merge') publication.merging = await beginMerge(publication);
  const { merging } = publication;
  if (plan.keys === 'hash' && staged.has('documents')) {
    publication.earlierDocuments = await notesOf(publication).make(
      `AS SELECT document_key FROM ${driver.dialect.quote(sideTableNames.documents)}`,
    );
  }
  const documents = staged.has('documents') ? await driver.addSideRows(publication, 'documents', offsets) : 0;
  const rows: Record<string, number> = {};
  let uncommittedBytes = 0;
  for (const [index, { name }] of plan.model.tables.entries()) {
    const waiting = staged.get(index);
    if (waiting === undefined) continue;
    rows[name] = await driver.addRows(publication, index, offsets);
    uncommittedBytes += waiting.bytes;
    if (!publication.isNew || uncommittedBytes < (driver.uncommittedBytes ?? Infinity)) continue;
    for (const step of ['COMMIT', 'CHECKPOINT', 'BEGIN']) await database.run(step);
    uncommittedBytes = 0;
  }
  await driver.finishTables?.(publication);
  for (const side of ['unmapped', 'lexical'] as const)
    if (staged.has(side)) await driver.addSideRows(publication, side, offsets);
  await writeTexts(
    publication,
    staged.has('lexical'),
    (table, column) => texts.get(columnId(table, column)) ?? null,
  );
  await keepKeys(publication, keptTables(publication), staged.has('documents'));
  await publishCodes(publication);
  await publishViews(publication);
  await noteJob(publication, addedBy({ documents, rows }, merging));
  return rows;
}

/** Makes the tables beside the data that the target lacks. */
export async function makeSideTables<Database extends SqlDatabase>({
  database,
  driver,
  known,
}: PublishingScope<Database>): Promise<void> {
  await runAll(
    database,
    Object.values(sideTableDefinitions)
      .filter(({ name }) => !known.has(name))
      .flatMap((definition) => sideTable(driver.dialect, definition, { sqlSchema: driver.sqlSchema })),
  );
}

/** Writes what documents say into columns that are text, although the model has another type. */
export async function writeTexts<Database extends SqlDatabase>(
  { database, driver, plan, drawn }: PublishingScope<Database>,
  hasWritten: boolean,
  textOf: (table: number, column: number) => 'turned' | 'text' | null,
): Promise<void> {
  const updates = textUpdates(driver);
  await runAll(
    database,
    textColumns(plan.model, drawn.tables, hasWritten, textOf).map((column) =>
      writtenTextStatement(column, plan.jobUuid, updates),
    ),
  );
}

export function textUpdates(driver: RemovalWays): TextUpdates {
  return {
    literal: driver.dialect.literal,
    relation: relationOf(driver),
    joins: driver.joinsChanges === true,
  };
}

/** What the ledger says of a job: documents and rows that it added, less those that its merge removed. */
export function addedBy(
  { documents, rows }: { readonly documents: number; readonly rows: Readonly<Record<string, number>> },
  merging: Pick<Merging<unknown>, 'removed'> | null,
): { readonly documents: number; readonly rows: number } {
  const { removed } = merging ?? { removed: nothingRemoved };
  return { documents: documents - removed.documents, rows: sumOf(rows) - sumOf(removed.rows) };
}

/** Tables whose highest keys are noted: those that took rows, and all tables of lists. */
function keptTables<Database extends SqlDatabase>({
  driver,
  plan,
  drawn,
  staged,
  known,
  made,
}: Publication<Database>): readonly PhysicalTable[] {
  return drawn.tables.filter(({ name }, index) =>
    index < plan.model.tables.length
      ? staged.has(index)
      : made.has(index) || known.has(driver.foldedName(name)),
  );
}

/** Makes or alters the tables that take rows. Returns the columns that are text now, by `columnId`: turned into text by this job, or before. */
async function readyTables<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<ReadonlyMap<string, 'turned' | 'text'>> {
  const { driver, plan, drawn, staged, types } = publication;
  const texts = new Map<string, 'turned' | 'text'>();
  for (const index of plan.model.tables.keys()) {
    const there = foundTable(publication, index);
    if (!staged.has(index) && (there !== undefined || !plan.allTables)) continue;
    await readyTable(publication, index);
    for (const [at, type] of types.get(index)!.entries()) {
      const before = there?.columns.get(driver.foldedName(drawn.tables[index]!.columns[at]!.name))?.type;
      // a column that a table gains may have been a list with a table of its own
      const wasText = there === undefined || (before !== undefined && driver.isText(before));
      if (driver.isText(type)) texts.set(columnId(index, at), wasText ? 'text' : 'turned');
    }
    for (const { owner, table } of drawn.lists)
      if (owner === index && table !== null) await readyTable(publication, table);
  }
  return texts;
}

async function readyTable<Database extends SqlDatabase>(
  publication: Publication<Database>,
  index: number,
): Promise<void> {
  const { driver, drawn, plan, widened, nullAllowed, changes } = publication;
  const isNew = foundTable(publication, index) === undefined;
  publication.types.set(index, await driver.readyTable(publication, index));
  if (!isNew) return;
  publication.made.add(index);
  const { name, columns } = drawn.tables[index]!;
  for (const [at, column] of columns.entries()) {
    const id = columnId(index, at);
    const wider = widened.get(id);
    if (wider !== undefined) changes.push(`${name}.${column.name}: ${widenedWords(wider)}`);
    if (plan.model.tables[index]?.columns[at]?.nullable === false && nullAllowed.has(id))
      changes.push(`${name}.${column.name}: NOT NULL dropped`);
  }
}
