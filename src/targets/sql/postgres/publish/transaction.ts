/** The publishing transaction: from staged rows to rows of the target, all at once. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { offsetBehind, relation, type PostgresPublication } from './publication.ts';
import { runAll } from '../driver.ts';
import { unconvertedValues, type StagedTable } from '../staging/staged-table.ts';
import { checkNamed, checkSideTaken, checkStillThere, checkTaken } from './taken-rows.ts';
import { deferTurnedKeys, loosenForeignKeys } from './keys.ts';
import { clearTables } from './overwrite.ts';
import { addCodeChecks, publishCodes, dropChecks } from './code-lists.ts';
import { moveDocuments, moveStaged, adaptTable, finishTables, makeTables } from './tables.ts';
import { dropViewsOfNames, publishViews } from './views.ts';
import { strayReferences } from '../staging/staged-keys.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { columnId, widenedWords } from '../../../rows/unfit-columns.ts';
import { keepKeys, keyOffsets as keysInUse, shiftedSideRows } from '../../keys.ts';
import type { KeyOffsets } from '../../publication.ts';
import type { Merging } from '../../../rows/merging.ts';
import { noteJob } from '../../ledger.ts';
import { readyMerge, takeReplaced } from '../../merge.ts';
import { addedBy, makeSideTables, writeTexts } from '../../publish.ts';
import { converted } from '../types.ts';
import { sqlState } from '../../../../adapters/postgres/client/connect.ts';
import { AppError } from '../../../../errors.ts';

/** Rows added by table name of the model. */
export async function publishRows(publication: PostgresPublication): Promise<Record<string, number>> {
  const { plan, staging, tables, target } = publication;
  await dropViewsOfNames(publication);
  await makeSideTables(publication);
  if (plan.saveMode === 'overwrite') await clearTables(publication);
  const merging = plan.saveMode === 'merge' ? await mergeDocuments(publication) : null;
  publication.merging = merging;
  const codes = await publishCodes(publication);
  const offsets = await keyOffsets(publication);
  await widenStaged(publication);
  const types = await stagedTypes(publication);
  const documents = await addDocuments(publication, offsets);
  await loosenForeignKeys(publication);
  await deferTurnedKeys(publication);
  // of documents that are there already the rows are, too
  const repeats = plan.keys === 'hash' && documents < (staging.get('documents')?.rows ?? 0);
  const rows: Record<string, number> = {};
  const moves: number[] = [];
  const makes: number[] = [];
  for (const [index, { name }] of tables.entries()) {
    const staged = staging.get(index)!;
    if (staged.created && canMove(publication, index, staged, offsets)) moves.push(index);
    else if ((staged.created || plan.allTables) && !publication.present.has(name)) makes.push(index);
  }
  await makeTables(publication, makes);
  await moveTables(publication, moves);
  for (const [index, table] of tables.entries()) {
    const staged = staging.get(index)!;
    if (!staged.created) continue;
    let added = staged.rows;
    if (!publication.moved.has(staged)) {
      const type = types.get(staged.name)!;
      const isNew = publication.createdTables.has(table.name);
      if (!isNew) await adaptTable(publication, index, type);
      const known = isNew ? undefined : target.tables.get(table.name)!.columns;
      added = await insertRows(publication, index, { staged, offsets, types: type, known, repeats });
      await checkTaken(publication, {
        table: table.name,
        key: table.primaryKey[0],
        offset: offsets.get(table.keysOf) ?? 0n,
        staged: staged.relation,
        stagedRows: staged.rows,
        added,
      });
    }
    rows[plan.model.tables[index]!.name] = added;
  }
  // keys of circles are checked at the end: tables whose checks are pending cannot take the keys that follow
  await publication.tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
  await dropStrayReferences(publication);
  if (plan.keys === 'hash' && !repeats) checkKeysDiffer(publication, rows);
  await finishTables(publication);
  await addCodeChecks(publication, codes);
  await addSideRows(publication, offsets);
  await writeJobTexts(publication);
  await keepJobKeys(publication);
  await publishViews(publication);
  if (merging !== null) await publication.driver.notes.drop(merging.documents);
  await noteJob(publication, addedBy({ documents, rows }, merging));
  await checkNamed(publication, sideTableNames.loads, 'job_uuid', [plan.jobUuid]);
  await checkStillThere(publication);
  return rows;
}

async function mergeDocuments(publication: PostgresPublication): Promise<Merging<string>> {
  const merge = await readyMerge(publication);
  const scope = { ...publication, model: publication.plan.model };
  const moment = publication.driver.instant(merge.moment);
  return { ...merge, ...(await takeReplaced(scope, publication.merge, merge.documents, moment)) };
}

/** No document is there already: any row whose key is taken would be lost. */
function checkKeysDiffer(
  { plan, staging }: PostgresPublication,
  added: Readonly<Record<string, number>>,
): void {
  for (const [index, { name }] of plan.model.tables.entries()) {
    const staged = staging.get(index)!;
    if (staged.created && added[name] !== staged.rows) throw keysMeet(name);
  }
}

/**
 * By physical table name, `_documents` among them: what is added to this job's keys. No key is given twice, also where the rows that
 * had it are gone: the counter outlives rows and tables.
 */
async function keyOffsets(publication: PostgresPublication): Promise<KeyOffsets> {
  const { plan, drawn, tables, countedFrom } = publication;
  if (plan.keys === 'hash') return new Map();
  const filled = tables.filter((_, index) => publication.staging.get(index)!.created);
  const needed = new Set(filled.flatMap((table) => [table.name, ...table.keyOwners.values()]));
  const used = await keysInUse({
    ...publication,
    drawn: { ...drawn, tables: tables.filter(({ name }) => needed.has(name)) },
  });
  return new Map(
    [...used].flatMap(([name, last]) => {
      const offset = last - BigInt(countedFrom.get(name) ?? 0);
      const isUsed = needed.has(name) || name === sideTableNames.documents;
      return isUsed && offset > 0n ? [[name, offset] as const] : [];
    }),
  );
}

/** Columns with a value that their type cannot hold become text, or a wider number, and take it. */
async function widenStaged(publication: PostgresPublication): Promise<void> {
  const { tx, staging, tables, widened, nullAllowed } = publication;
  if (widened.size === 0) return;
  const source = staging.get(unconvertedValues)!;
  for (const [id, type] of widened) {
    const [index, at] = id.split(':').map(Number) as [number, number];
    const staged = staging.get(index)!;
    const { name } = tables[index]!.columns[at]!;
    const key = tables[index]!.primaryKey[0]!;
    const types = await typesOf(publication, [staged]);
    const column = doubleQuoted(name);
    const wider = postgresql.typeName(type);
    const offset = offsetBehind(publication, index, at, () => true);
    await tx.unsafe(
      `ALTER TABLE ${staged.relation} ALTER COLUMN ${column} TYPE ${wider} USING ${converted(column, types.get(staged.name)!.get(name)!, wider, offset)};
       UPDATE ${staged.relation} s SET ${column} = m.content::${wider} FROM ${source.relation} m
        WHERE m.table_index = ${index} AND m.column_index = ${at} AND m.row_key = s.${doubleQuoted(key)}`,
    );
    // of a table that is there, its own change is told
    if (!publication.present.has(tables[index]!.name))
      publication.changes.push(`${tables[index]!.name}.${name}: ${widenedWords(type)}`);
    // the column was empty until now where the value had no place
    if (nullAllowed.has(id) && !(await hasNulls(tx, staged.relation, column))) nullAllowed.delete(id);
  }
}

async function hasNulls(tx: PostgresPublication['tx'], relation: string, column: string): Promise<boolean> {
  const [row] = await tx.unsafe<[{ found: boolean }]>(
    `SELECT EXISTS (SELECT 1 FROM ${relation} WHERE ${column} IS NULL) AS found`,
  );
  return row.found;
}

async function stagedTypes(publication: PostgresPublication): Promise<Map<string, Map<string, string>>> {
  const staged = [...publication.staging.entries()]
    .map(([, table]) => table)
    .filter((table) => table.created);
  return typesOf(publication, staged);
}

/** Column types by table and column name, as `format_type` writes them. */
async function typesOf(
  publication: PostgresPublication,
  staged: readonly StagedTable[],
): Promise<Map<string, Map<string, string>>> {
  const types = new Map<string, Map<string, string>>(staged.map((table) => [table.name, new Map()]));
  if (staged.length === 0) return types;
  const relations = JSON.stringify(staged.map((table) => table.relation));
  const rows = await publication.tx.unsafe<{ table: string; column: string; type: string }[]>(`
    SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type
      FROM jsonb_array_elements_text(${standardLiteral(relations)}::jsonb) name
      JOIN pg_class c ON c.oid = name::regclass JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE a.attnum > 0 AND NOT a.attisdropped`);
  for (const { table, column, type } of rows) types.get(table)!.set(column, type);
  return types;
}

/** A staged table can become the target's own where no key in it needs to be shifted. */
function canMove(
  publication: PostgresPublication,
  index: number,
  staged: StagedTable,
  offsets: KeyOffsets,
): boolean {
  const { tables, target, present } = publication;
  if (!staged.form.logged || target.hasDefaultGrants || present.has(tables[index]!.name)) return false;
  return tables[index]!.keyOwners.values().every((owner) => !offsets.has(owner));
}

async function moveTables(publication: PostgresPublication, indexes: readonly number[]): Promise<void> {
  const { tables, staging } = publication;
  const moves = indexes.map((index) => ({ staged: staging.get(index)!, name: tables[index]!.name }));
  await moveStaged(publication, moves);
  for (const { staged, name } of moves) {
    if (staged.keyed) publication.keyed.add(name);
    publication.createdTables.add(name);
    publication.present.add(name);
  }
}

/** A table may be there by now that was not when the job began: it takes rows, and the staged one that others refer to is dropped. */
async function dropStrayReferences(publication: PostgresPublication): Promise<void> {
  const { moved, staging, tables, tx } = publication;
  for (const { table, reference } of strayReferences(moved, (key) => staging.get(key)!)) {
    const { name } = tables[table.key as number]!;
    await tx.unsafe(
      `ALTER TABLE ${relation(publication, name)} DROP CONSTRAINT ${doubleQuoted(reference.name)}`,
    );
    table.references.splice(table.references.indexOf(reference), 1);
  }
}

/** Columns and values of `_documents` for documents that are staged in `d`. */
function mergedDocuments({ driver, merging }: PostgresPublication): {
  readonly columns: string;
  readonly values: string;
  readonly sha256: string;
  readonly join: string;
} {
  if (merging === null) return { columns: '', values: '', sha256: 'd.sha256', join: '' };
  const [key, from] = mergeColumns.map(({ name }) => doubleQuoted(name)) as [string, string];
  return {
    columns: `, ${key}, ${from}`,
    values: `, m.${key}, ${driver.instant(merging.moment)}`,
    sha256: 'm.sha256',
    join: ` JOIN ${merging.documents} m ON m.name = d.name AND m.written = d.sha256`,
  };
}

async function addDocuments(publication: PostgresPublication, offsets: KeyOffsets): Promise<number> {
  const { tx, plan, staging } = publication;
  const staged = staging.get('documents')!;
  if (!staged.created) return 0;
  const offset = offsets.get(sideTableNames.documents) ?? 0n;
  if (offset === 0n && (await moveDocuments(publication, staged))) return staged.rows;
  const conflict = plan.keys === 'hash' ? ' ON CONFLICT DO NOTHING' : '';
  const side = ['unmapped', 'lexical'].map((name) => staging.get(name)!).filter((table) => table.created);
  if (plan.keys === 'hash') {
    // of a document that is there already everything is there already
    await runAll(
      tx,
      side.map(
        (table) =>
          `DELETE FROM ${table.relation} WHERE document_key IN (SELECT document_key FROM ${relation(publication, sideTableNames.documents)})`,
      ),
    );
  }
  const merged = mergedDocuments(publication);
  const { count } = await tx.unsafe(
    `INSERT INTO ${relation(publication, sideTableNames.documents)} (document_key, name, sha256, bytes, loaded_at, job, job_uuid${merged.columns})
     SELECT d.document_key + ${offset}, d.name, ${merged.sha256}, d.bytes, d.loaded_at, d.job, d.job_uuid${merged.values} FROM ${staged.relation} d${merged.join}${conflict}`,
  );
  await checkTaken(publication, {
    table: sideTableNames.documents,
    key: sideTableDefinitions.documents.primaryKey[0],
    offset,
    staged: staged.relation,
    stagedRows: staged.rows,
    added: count,
  });
  return count;
}

/** `_unmapped` and `_lexical` name rows of any table: each with its own shift. */
async function addSideRows(publication: PostgresPublication, offsets: KeyOffsets): Promise<void> {
  const { plan, staging } = publication;
  for (const side of ['unmapped', 'lexical'] as const) {
    const staged = staging.get(side)!;
    if (!staged.created) continue;
    const columns = sideTableDefinitions[side].columns.map((column) => column.name);
    const value = (at: number): string => `s.${columns[at]!}`;
    const { values, join } = shiftedSideRows(publication, side, offsets, { value, text: value });
    const distinct = plan.keys === 'hash' ? 'DISTINCT ' : '';
    const given = `SELECT ${distinct}${values.join(', ')} FROM ${staged.relation} s${join}`;
    const list = columns.map(doubleQuoted).join(', ');
    await publication.tx.unsafe(
      `INSERT INTO ${relation(publication, sideTableNames[side])} (${list}) ${given}`,
    );
    await checkSideTaken(publication, { table: sideTableNames[side], columns: list, given });
  }
}

/** Columns that are text in the target, and not in the model, say what documents say. */
async function writeJobTexts(publication: PostgresPublication): Promise<void> {
  const { staging, tables, target, turnedToText, createdTables, widened } = publication;
  await writeTexts(publication, staging.get('lexical')!.created, (index, at) => {
    if (!staging.get(index)!.created) return null;
    if (turnedToText.has(columnId(index, at))) return 'turned';
    const { name, columns } = tables[index]!;
    // a table that was there before may be another by now
    const before = createdTables.has(name) ? undefined : target.tables.get(name);
    const there = before?.columns.get(columns[at]!.name)?.type;
    return there === 'text' || widened.get(columnId(index, at))?.kind === 'text' ? 'text' : null;
  });
}

async function keepJobKeys(publication: PostgresPublication): Promise<void> {
  const { tables, staging } = publication;
  const filled = tables.filter(
    ({ primaryKey }, index) => primaryKey.length > 0 && staging.get(index)!.created,
  );
  const hasDocuments = staging.get('documents')!.created;
  await keepKeys(publication, filled, hasDocuments);
  const names = filled.map(({ name }) => name);
  if (hasDocuments) names.push(sideTableNames.documents);
  await checkNamed(publication, sideTableNames.keys, 'table_name', names);
}

interface RowInsertion {
  readonly staged: StagedTable;
  /** by physical table name: what is added to keys */
  readonly offsets: KeyOffsets;
  /** of the staged columns, as `format_type` writes them */
  readonly types: ReadonlyMap<string, string>;
  /** columns of a table that was there before */
  readonly known: ReadonlyMap<string, { readonly type: string }> | undefined;
  /** rows may be there already, and are left out then: to look for each costs half as much again as to insert it */
  readonly repeats: boolean;
}

/** Staged rows of a table that was there before; answers how many came. What the schema wants of values and the rows break is taken off. */
export async function insertRows(
  publication: PostgresPublication,
  index: number,
  { staged, offsets, types, known, repeats }: RowInsertion,
): Promise<number> {
  const { tx } = publication;
  const table = publication.tables[index]!;
  const values = table.columns.map(({ name }, at) => {
    const owner = table.keyOwners.get(name);
    const offset = owner === undefined ? 0n : (offsets.get(owner) ?? 0n);
    const value = offset === 0n ? doubleQuoted(name) : `${doubleQuoted(name)} + ${offset}`;
    const type = types.get(name)!;
    const written = offsetBehind(publication, index, at, () => true);
    return converted(value, type, known?.get(name)?.type ?? type, written);
  });
  const columns = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const conflict = repeats ? ' ON CONFLICT DO NOTHING' : '';
  const statement = `INSERT INTO ${relation(publication, table.name)} (${columns}) SELECT ${values.join(', ')} FROM ${staged.relation}${conflict}`;
  for (;;) {
    const checks = publication.target.checks.filter((check) => check.table === table.name);
    try {
      const { count } =
        table.uniqueKeys.length === 0 && checks.length === 0
          ? await tx.unsafe(statement)
          : await tx.savepoint((savepoint) => savepoint.unsafe(statement));
      return count;
    } catch (error) {
      const { constraint_name: constraint } = error as { readonly constraint_name?: string };
      if (sqlState(error) === '23514' && checks.some(({ name }) => name === constraint)) {
        // what documents say is loaded, whatever the schema lists
        await dropChecks(publication, ({ name }) => name === constraint, table.name);
        continue;
      }
      const broken = sqlState(error) === '23505' ? constraint : undefined;
      if (!table.uniqueKeys.some((key) => key.name === broken)) throw error;
      // a natural key is wanted, not demanded
      await tx.unsafe(
        `ALTER TABLE ${relation(publication, table.name)} DROP CONSTRAINT ${doubleQuoted(broken!)}`,
      );
      publication.changes.push(`${table.name}: unique key ${broken} dropped, its values repeat`);
      const { columns: own } = table.uniqueKeys.find((key) => key.name === broken)!;
      publication.brokenKeys.push({ table: table.name, columns: own });
    }
  }
}

/** Hashed keys of two documents are the same: the database says so where it makes a primary key, or keeps one. `table`: its name in the target. */
function keysMeet(table: string): AppError {
  return new AppError(
    'conflict',
    `${table}: keys of two documents meet (--keys hash); load these documents with --keys sequence, into a target of their own.`,
  );
}

/** What the database said of a repeated key, in these words; other faults as they are. `nameOf`: of a staged table, that in the target. */
export function keyFault(error: unknown, nameOf: (table: string) => string): unknown {
  if (sqlState(error) !== '23505') return error;
  const { table_name: table = '' } = error as { readonly table_name?: string };
  return keysMeet(nameOf(table));
}
