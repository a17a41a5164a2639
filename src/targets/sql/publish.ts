/** The publishing transaction: staged rows become rows of the target, all at once. */
import { sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import { sideTable } from '../../engine/sql/statements.ts';
import type { SideTable } from '../../ports/rows/sink.ts';
import { columnId, widenedWords } from '../rows/unfit-columns.ts';
import type { PhysicalTable } from '../../engine/sql/physical-model.ts';
import type { Merging } from '../rows/merging.ts';
import { nothingRemoved } from '../rows/removed-documents.ts';
import { textColumns, writtenTextStatement, type TextUpdates } from '../rows/written-texts.ts';
import { fillCodes, readyCodes } from './codes.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import { keepKeys, keyOffsets } from './keys.ts';
import { noteJob, sumOf } from './ledger.ts';
import { readyMerge, takeReplaced } from './merge.ts';
import { clearTables } from './overwrite.ts';
import { foundTable, type Publication, type PublishingScope, type WaitingRows } from './publication.ts';
import { notesOf, type RemovalWays } from './removal.ts';
import { dropViewsOfNames, publishViews } from './views.ts';

/**
 * Returns the number of rows added, by table name of the model. All changes of tables come first: DuckDB commits no transaction that alters
 * a table after it deleted rows of it, and MySQL commits every change of a table.
 */
export async function publishRows<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<Record<string, number>> {
  const { database, driver, plan, staged } = publication;
  const hasDocuments = publication.known.has(sideTableNames.documents);
  await dropViewsOfNames(publication);
  if (await (driver.readyTarget ?? readyTarget)(publication))
    publication.known = await driver.readTables(database);
  const before = publication.known;
  publication.drawn = driver.drawForRows?.(publication) ?? publication.drawn;
  const offsets = await (driver.keyOffsets ?? keyOffsets)(publication);
  const texts = await readyTables(publication);
  await driver.publishCodes?.(publication);
  const codes = driver.publishCodes === undefined ? await readyCodes(publication) : null;
  const merge = plan.saveMode === 'merge' ? await readyMerge(publication) : null;
  await driver.beginRows?.(publication);
  if (merge !== null) {
    const scope = { ...publication, known: before, model: plan.model };
    const moment = driver.instant(merge.moment);
    const replaced = hasDocuments
      ? await takeReplaced(scope, publication.merge, merge.documents, moment)
      : { removed: nothingRemoved, counts: { replaced: 0, deleted: 0 } };
    publication.merging = { ...merge, ...replaced };
  }
  const { merging } = publication;
  let uncommittedBytes = 0;
  const added = async (key: number | SideTable, adding: Promise<number>): Promise<number> => {
    const count = await adding;
    uncommittedBytes += staged.get(key)!.bytes ?? 0;
    if (!publication.isNew || uncommittedBytes < (driver.uncommittedBytes ?? Infinity)) return count;
    for (const step of ['COMMIT', 'CHECKPOINT', 'BEGIN']) await database.run(step);
    uncommittedBytes = 0;
    return count;
  };
  const addSide = async (side: SideTable): Promise<number> =>
    staged.has(side) ? added(side, driver.addSideRows(publication, side, offsets)) : 0;
  await addSide('unmapped');
  await addSide('lexical');
  const documents = await addSide('documents');
  const rows: Record<string, number> = {};
  for (const [index, { name }] of plan.model.tables.entries())
    if (staged.has(index)) rows[name] = await added(index, driver.addRows(publication, index, offsets));
  await driver.finishTables?.(publication);
  await writeTexts(
    publication,
    staged.has('lexical'),
    (table, column) => texts.get(columnId(table, column)) ?? null,
  );
  if (staged.has('lexical'))
    await driver.writeItemTexts?.(publication, (table, column) => texts.has(columnId(table, column)));
  await keepKeys(publication, keptTables(publication), staged.has('documents'));
  if (codes !== null) await fillCodes(publication, codes);
  if (driver.commitsDefinitions !== true) await (driver.publishViews ?? publishViews)(publication);
  if (merging !== null) await notesOf(publication).drop(merging.documents);
  await noteJob(publication, addedBy({ documents, rows }, merging));
  await driver.checkTaken?.(publication);
  return rows;
}

/**
 * Makes the side tables that the target lacks, and clears the tables of the model for an overwrite. Returns whether the target has changed.
 */
async function readyTarget<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<boolean> {
  const { database, driver, plan } = publication;
  const areMade = await makeSideTables(publication);
  if (plan.saveMode !== 'overwrite') return areMade;
  if (areMade) publication.known = await driver.readTables(database);
  await clearTables(publication);
  return true;
}

/** Makes the side tables that the target lacks. Returns whether it lacked one. */
export async function makeSideTables<Database extends SqlDatabase>({
  database,
  driver,
  known,
}: PublishingScope<Database>): Promise<boolean> {
  const { dialect, sqlSchema } = driver;
  const lacking = Object.values(sideTableDefinitions).filter(({ name }) => !known.has(name));
  await runAll(
    database,
    lacking.flatMap((definition) => sideTable(dialect, definition, { sqlSchema })),
  );
  return lacking.length > 0;
}

/** Writes the texts of documents into columns that are text although the model has another type. */
async function writeTexts<Database extends SqlDatabase>(
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

/** Returns the numbers for a job's entry in the ledger: documents and rows that it added, minus those that its merge removed. */
function addedBy(
  { documents, rows }: { readonly documents: number; readonly rows: Readonly<Record<string, number>> },
  merging: Pick<Merging<unknown>, 'removed'> | null,
): { readonly documents: number; readonly rows: number } {
  const { removed } = merging ?? { removed: nothingRemoved };
  return { documents: documents - removed.documents, rows: sumOf(rows) - sumOf(removed.rows) };
}

/**
 * Returns the tables whose highest keys are recorded: those that got rows, and all tables of lists, whose items come with the rows of other
 * tables.
 */
export function keptTables<Database extends SqlDatabase, Waiting extends WaitingRows>({
  driver,
  plan,
  drawn,
  staged,
  known,
  made,
}: Publication<Database, Waiting>): readonly PhysicalTable[] {
  return drawn.tables.filter(({ name }, index) =>
    index < plan.model.tables.length || driver.stagesItems === true
      ? staged.has(index)
      : made.has(index) || known.has(driver.foldedName(name)),
  );
}

/**
 * Makes or alters the tables that get rows. Returns the columns that are text now, by `columnId`: converted to text by this job, or before.
 */
async function readyTables<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<ReadonlyMap<string, 'turned' | 'text'>> {
  const { driver, plan, drawn, staged, types } = publication;
  const texts = new Map<string, 'turned' | 'text'>();
  const isLacking = (index: number): boolean => foundTable(publication, index) === undefined;
  const isWanted = (index: number): boolean => staged.has(index) || (plan.allTables && isLacking(index));
  const wanted = [...plan.model.tables.keys()]
    .filter(isWanted)
    .flatMap((index) => [
      index,
      ...drawn.lists.flatMap(({ owner, table }) =>
        owner === index && table !== null && (driver.stagesItems !== true || isWanted(table)) ? [table] : [],
      ),
    ]);
  await driver.readyTables?.(publication, wanted.filter(isLacking));
  for (const index of wanted) {
    const there = foundTable(publication, index);
    const before = drawn.tables[index]!.columns.map(
      ({ name }) => there?.columns.get(driver.foldedName(name))?.type,
    );
    await readyTable(publication, index);
    for (const [at, type] of types.get(index)!.entries()) {
      // a column that a table gains may have been a list with a table of its own
      const wasText = there === undefined || (before[at] !== undefined && driver.isText(before[at]));
      if (driver.isText(type))
        texts.set(columnId(index, at), wasText || driver.commitsDefinitions === true ? 'text' : 'turned');
    }
  }
  return texts;
}

async function readyTable<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
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
