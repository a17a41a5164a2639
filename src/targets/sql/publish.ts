/** The publishing transaction: staged rows become rows of the target, all at once. */
import {
  codesTable,
  mergeColumns,
  sideTableDefinitions,
  sideTableNames,
  fileKeyName,
} from '../../engine/model/side-tables.ts';
import { codeRows, type ModelCodes } from '../../engine/sql/code-lists.ts';
import { sideTable, commentStatements } from '../../engine/sql/ddl.ts';
import { codesOf } from '../rows/code-lists.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import { foundTable, type Publication, type PublishingScope, type WaitingRows } from './publication.ts';
import { physicalSideTable, type PhysicalTable } from '../../engine/sql/physical-model.ts';
import { commentLine } from '../../engine/sql/comment-text.ts';
import type { MergeOrder, SideTable } from '../../ports/row-sink.ts';
import {
  momentAfter,
  type Merging,
  addRemoved,
  nothingRemoved,
  type RemovedDocuments,
} from '../rows/ledger.ts';
import {
  closeDocuments,
  notesOf,
  removeDocuments,
  type RemovalScope,
  deleteEarlierRows,
  otherTables,
  type RemovalWays,
} from './removal.ts';
import { documentsOfOthersQuery, isLoadedBy, overwrittenColumns } from '../../engine/sql/loaded-documents.ts';
import { columnId, widenedWords } from '../rows/unfit-columns.ts';
import { textColumns, writtenTextStatement, type TextUpdates } from '../rows/written-texts.ts';
import { keepKeys, keyOffsets } from './keys.ts';
import { noteJob, sumOf } from './ledger.ts';
import { dropViewsOfNames, publishViews } from './views.ts';

// The table `_codes` of the values that the schema enumerates (`--codes`). These databases add no checks to existing tables.

const rowsPerStatement = 1000;

/** Makes the table if it is wanted. Returns the codes to fill it with, or null if it gets none. */
async function readyCodes<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<ModelCodes | null> {
  const { driver, plan, drawn, changes } = publication;
  if (plan.codes === 'none') return null;
  const { name, comment } = codesTable;
  const there = publication.known.get(name);
  const isOurs = there?.isView === false && there.comment === comment;
  if (plan.codes === undefined && !isOurs) return null;
  if (!isOurs && (there !== undefined || drawn.tables.some((one) => driver.foldedName(one.name) === name))) {
    changes.push(`${name}: not filled with codes because an object that no load made has this name`);
    return null;
  }
  if (plan.codes === 'check')
    changes.push(
      `${driver.title} does not support CHECK constraints for codes: --codes check only fills _codes`,
    );
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

// Save mode `m`: documents that this job replaces, or whose source is gone, are removed, or closed and kept (`--history`).

const documentsPerStatement = 1000;

/**
 * Makes the objects that a merge needs: columns of `_documents`, and a table of the job with `name`, `written`, `key` and `sha256`.
 * `moment`: in ISO 8601.
 */
async function readyMerge<Database extends SqlDatabase>(
  publication: PublishingScope<Database>,
): Promise<Pick<Merging<string>, 'documents' | 'moment'>> {
  const { database, driver, merge, known } = publication;
  await addMergeColumns(publication, known.get(sideTableNames.documents)?.columns);
  publication.known = await driver.readTables(database);
  const { make, filled } = notesOf(publication);
  const documents = await make(driver.mergeTable ?? '(name TEXT, written TEXT, key TEXT, sha256 TEXT)');
  await noteDocuments(publication, documents, merge);
  await filled?.(documents);
  return { documents, moment: momentAfter(await driver.latestChange(database)) };
}

async function noteDocuments<Database extends SqlDatabase>(
  { database, driver: { dialect } }: Pick<PublishingScope<Database>, 'database' | 'driver'>,
  into: string,
  { documents }: Pick<MergeOrder, 'documents'>,
): Promise<void> {
  for (let from = 0; from < documents.length; from += documentsPerStatement) {
    const rows = documents
      .slice(from, from + documentsPerStatement)
      .map(
        ({ name, written, key, sha256 }) =>
          `(${[name, written, key, sha256].map(dialect.literal).join(', ')})`,
      );
    await database.run(
      `INSERT INTO ${into} (name, written, ${dialect.quote('key')}, sha256) VALUES ${rows.join(', ')}`,
    );
  }
}

/**
 * Removes or closes the documents that are replaced or whose source is gone. `documents`: a table, as statements write it, with the keys of
 * the job's documents; `moment`: an expression for the time from which these are valid.
 */
async function takeReplaced<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  { missing, keepsHistory }: Pick<MergeOrder, 'missing' | 'keepsHistory'>,
  documents: string,
  moment: string,
): Promise<Pick<Merging<string>, 'removed' | 'counts'>> {
  const key = scope.driver.dialect.quote('key');
  await nameUnmerged(scope);
  const take = (condition: string): Promise<RemovedDocuments> => {
    const current = `valid_to IS NULL AND ${condition}`;
    return keepsHistory ? closeDocuments(scope, current, moment) : removeDocuments(scope, current, 'key');
  };
  const replaced = await take(`${key} IN (SELECT m.${key} FROM ${documents} m)`);
  const gone = missing.length === 0 ? nothingRemoved : await take(`document_key IN (${missing.join(', ')})`);
  return {
    removed: keepsHistory ? nothingRemoved : addRemoved(replaced, gone),
    counts: { replaced: replaced.names, deleted: gone.documents },
  };
}

/** Gives documents of loads that did not merge their names as keys; they are valid from the time they were read. */
export async function nameUnmerged<Database extends SqlDatabase>({
  database,
  driver,
}: Pick<RemovalScope<Database>, 'database' | 'driver'>): Promise<void> {
  const key = driver.dialect.quote('key');
  const documents = relationOf(driver)(sideTableNames.documents);
  await database.run(`UPDATE ${documents} SET ${key} = name, valid_from = loaded_at WHERE ${key} IS NULL`);
}

/** Adds the columns of merges that a table of documents lacks. `there`: its columns; `table`: as statements write it. */
export async function addMergeColumns<Database extends SqlDatabase>(
  { database, driver }: Pick<RemovalScope<Database>, 'database' | 'driver'>,
  there: { has(name: string): boolean } | undefined,
  table: string = relationOf(driver)(sideTableNames.documents),
): Promise<void> {
  const { dialect, sqlSchema = null } = driver;
  const { comments } = dialect;
  const missing = physicalSideTable(
    {
      ...sideTableDefinitions.documents,
      columns: mergeColumns.filter(({ name }) => there?.has(name) !== true),
    },
    dialect,
  );
  if (missing.columns.length === 0) return;
  await runAll(database, [
    ...missing.columns.map(({ name, sqlType, comment }) => {
      const inline =
        comments.kind === 'inline' ? ` ${comments.column(commentLine(comment, comments.maxLength))}` : '';
      return `ALTER TABLE ${table} ADD COLUMN ${dialect.quote(name)} ${sqlType}${inline}`;
    }),
    ...commentStatements(dialect, sqlSchema, missing).slice(1),
  ]);
}

// Save mode `o`: drops the tables of the model, and removes from the side tables everything that belonged to their rows.

interface OverwrittenDocuments {
  /** a table of the job with their keys in `document_key`, as statements write it */
  readonly cleared: string;
  /** another logical schema loaded some of them: they may have rows in tables that this one does not have */
  readonly areOfOthers: boolean;
}

/** Records the documents that an overwrite removes: those with rows in the model's tables, and those that its logical schema kept whole. */
export async function noteOverwritten<Database extends SqlDatabase>(
  scope: Omit<PublishingScope<Database>, 'merge' | 'changes'>,
): Promise<OverwrittenDocuments> {
  const { database, driver, plan, drawn, known } = scope;
  const relation = relationOf(driver);
  const [documents, loads] = [sideTableNames.documents, sideTableNames.loads].map(relation);
  const isByThisSchema = isLoadedBy(plan);
  const isShared = (await database.read(documentsOfOthersQuery(plan, relation))).length > 0;
  const sources = overwrittenColumns(plan.model, drawn.tables, isShared).flatMap(({ table, column }) =>
    known.get(driver.foldedName(table))?.columns.has(driver.foldedName(column)) === true
      ? [`SELECT ${driver.dialect.quote(column)} AS document_key FROM ${relation(table)}`]
      : [],
  );
  sources.push(
    `SELECT d.document_key FROM ${documents} d JOIN ${loads} l ON l.job_uuid = d.job_uuid WHERE ${isByThisSchema}`,
  );
  const cleared = await notesOf(scope).make(`AS SELECT document_key FROM (${sources.join(' UNION ')}) named`);
  const ofOthers = await database.read(
    `SELECT 1 FROM ${cleared} c JOIN ${documents} d ON d.document_key = c.document_key JOIN ${loads} l ON l.job_uuid = d.job_uuid
      WHERE (${isByThisSchema}) IS NOT TRUE LIMIT 1`,
  );
  return { cleared, areOfOthers: ofOthers.length > 0 };
}

/** Deletes rows of overwritten documents in tables that only another version of the model has, because documents are removed whole. */
export async function deleteRowsElsewhere<Database extends SqlDatabase>(
  publication: PublishingScope<Database>,
  cleared: string,
  deletion: typeof deleteEarlierRows = deleteEarlierRows,
): Promise<void> {
  const scope = { ...publication, model: publication.plan.model };
  const { rows, tables } = await deletion(scope, `SELECT document_key FROM ${cleared}`);
  for (const name of tables)
    if (rows[name] !== undefined)
      publication.changes.push(`${name}: ${rows[name]} rows of overwritten documents were deleted`);
}

/** Clears tables. Views stay, because they find the tables that are made again. */
async function clearTables<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<void> {
  const { database, driver, plan, drawn } = publication;
  const { quote } = driver.dialect;
  const existing = drawn.tables.filter((_, index) => foundTable(publication, index) !== undefined);
  if (existing.length === 0) return;
  const { documents, lexical, unmapped } = sideTableNames;
  const { cleared, areOfOthers } = await noteOverwritten(publication);
  if (areOfOthers) await deleteRowsElsewhere(publication, cleared);
  await runAll(database, [
    // a document stays while rows in other tables refer to it
    ...otherTables({ ...publication, model: plan.model }).map(
      ({ name }) =>
        `DELETE FROM ${cleared} WHERE document_key IN (SELECT ${quote(fileKeyName)} FROM ${quote(name)})`,
    ),
    // children first, in case foreign keys were added by others
    ...existing.toReversed().map(({ name }) => `DROP TABLE ${quote(name)}`),
    ...[lexical, unmapped, documents].map(
      (name) => `DELETE FROM ${quote(name)} WHERE document_key IN (SELECT document_key FROM ${cleared})`,
    ),
  ]);
}

// The transaction.

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
