/** The publishing transaction: from staged rows to rows of the target, all at once. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sideTableDefinitions, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { offsetBehind, relation, type PostgresPublication } from './publication.ts';
import { unconvertedValues } from '../staging/unconverted-values.ts';
import { checkNamed, checkSideTaken, checkStillThere, checkTaken } from './taken-rows.ts';
import { deferTurnedKeys, loosenForeignKeys } from './foreign-keys.ts';
import { beginMerge, endMerge, mergedDocuments } from './merge.ts';
import { clearTables } from './overwrite.ts';
import { addCodeChecks, publishCodes } from './code-lists.ts';
import { insertRows } from './insert-rows.ts';
import { moveDocuments, moveStaged } from './moved-tables.ts';
import { keysMeet } from './keys-meet.ts';
import { dropViewsOfNames, publishViews } from './entity-views.ts';
import { strayReferences } from '../staging/foreign-keys.ts';
import type { StagedTable } from '../staging/staged-table.ts';
import { adaptTable, finishTables, makeSideTables, makeTables } from './tables.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { columnId, widenedWords } from '../../../rows/unfit-columns.ts';
import { ledgerStatement } from '../../../rows/ledger.ts';
import { textColumns, writtenTextStatement } from '../../../rows/written-texts.ts';
import { converted } from '../connection/types.ts';
import { runAll } from '../staging/lane.ts';

/** Rows added by table name of the model. */
export async function publishRows(
  publication: PostgresPublication,
  oldDocuments: string,
): Promise<Record<string, number>> {
  const { plan, staging, tables, target } = publication;
  await dropViewsOfNames(publication);
  await makeSideTables(publication);
  if (plan.saveMode === 'overwrite') await clearTables(publication, oldDocuments);
  const merging = plan.saveMode === 'merge' ? await beginMerge(publication) : null;
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
        offset: offsets.get(table.keysOf) ?? 0,
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
  await writeTexts(publication);
  await keepKeys(publication);
  await publishViews(publication);
  if (merging !== null) await endMerge(publication, merging);
  const total = sumOf(rows) - sumOf(merging?.removed.rows ?? {});
  await publication.tx.unsafe(
    ledgerStatement(
      plan,
      { documents: documents - (merging?.removed.documents ?? 0), rows: total },
      { into: relation(publication, sideTableNames.loads), now: 'now()', quote: doubleQuoted },
    ),
  );
  await checkNamed(publication, sideTableNames.loads, 'job_uuid', [plan.jobUuid]);
  await checkStillThere(publication);
  return rows;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
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
async function keyOffsets(publication: PostgresPublication): Promise<ReadonlyMap<string, number>> {
  const { tx, plan, tables, present, countedFrom } = publication;
  if (plan.keys === 'hash') return new Map();
  const filled = tables.filter((_, index) => publication.staging.get(index)!.created);
  const needed = new Set(filled.flatMap((table) => [table.name, ...table.keyOwners.values()]));
  const keyed = tables.flatMap((table) => {
    const key = needed.has(table.name) ? table.primaryKey[0] : undefined;
    return key === undefined ? [] : [[table.name, key] as const];
  });
  keyed.push([sideTableNames.documents, sideTableDefinitions.documents.primaryKey[0]!]);
  const offsets = new Map<string, number>();
  for (let from = 0; from < keyed.length; from += 200) {
    const queries = keyed.slice(from, from + 200).map(([name, key]) => {
      const literal = standardLiteral(name);
      const counter = `SELECT last_value FROM ${relation(publication, sideTableNames.keys)} WHERE table_name = ${literal}`;
      const isThere = present.has(name) || name === sideTableNames.documents;
      const highest = isThere
        ? `SELECT max(${doubleQuoted(key)}) FROM ${relation(publication, name)}`
        : 'NULL';
      const from = countedFrom.get(name) ?? 0;
      return `SELECT ${literal} AS name, greatest(${from}, (${counter}), (${highest}))::int8 - ${from} AS key`;
    });
    const rows = await tx.unsafe<{ name: string; key: number }[]>(queries.join(' UNION ALL '));
    for (const { name, key } of rows) if (key > 0) offsets.set(name, key);
  }
  return offsets;
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
  offsets: ReadonlyMap<string, number>,
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

const notMerged = { columns: '', values: '', sha256: 'd.sha256', join: '' };

async function addDocuments(
  publication: PostgresPublication,
  offsets: ReadonlyMap<string, number>,
): Promise<number> {
  const { tx, plan, staging } = publication;
  const staged = staging.get('documents')!;
  if (!staged.created) return 0;
  const offset = offsets.get(sideTableNames.documents) ?? 0;
  if (offset === 0 && (await moveDocuments(publication, staged))) return staged.rows;
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
  const merged = publication.merging === null ? notMerged : mergedDocuments(publication.merging);
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

/** That loads made them; none of their keys was counted. */
async function noteTables(publication: PostgresPublication, names: readonly string[]): Promise<void> {
  await publication.tx.unsafe(
    `INSERT INTO ${relation(publication, sideTableNames.keys)} (table_name, last_value)
     SELECT name, 0 FROM jsonb_array_elements_text(${standardLiteral(JSON.stringify(names))}::jsonb) name ON CONFLICT (table_name) DO NOTHING`,
  );
  await checkNamed(publication, sideTableNames.keys, 'table_name', names);
}

/** `_unmapped` and `_lexical` name rows of any table: each with its own shift. */
async function addSideRows(
  publication: PostgresPublication,
  offsets: ReadonlyMap<string, number>,
): Promise<void> {
  const { plan, tables, staging } = publication;
  const shifts = tables.flatMap((table, index) => {
    const offset = staging.get(index)!.created ? (offsets.get(table.keysOf) ?? 0) : 0;
    return offset === 0 ? [] : [`(${standardLiteral(plan.model.tables[index]!.name)}, ${offset})`];
  });
  const documentShift = offsets.get(sideTableNames.documents) ?? 0;
  // documents that are kept whole hang from themselves
  if (documentShift > 0) shifts.push(`(${standardLiteral(sideTableNames.documents)}, ${documentShift})`);
  const keyColumns = {
    unmapped: ['parent_table', 'parent_key'],
    lexical: ['table_name', 'row_key'],
  } as const;
  for (const [side, [tableColumn, keyColumn]] of Object.entries(keyColumns) as [
    keyof typeof keyColumns,
    readonly [string, string],
  ][]) {
    const staged = staging.get(side)!;
    if (!staged.created) continue;
    const columns = sideTableDefinitions[side].columns.map((column) => column.name);
    const values = columns.map((column) => {
      if (column === 'document_key') return `s.document_key + ${documentShift}`;
      return column === keyColumn && shifts.length > 0 ? `s.${column} + coalesce(o.shift, 0)` : `s.${column}`;
    });
    const join =
      shifts.length === 0
        ? ''
        : ` LEFT JOIN (VALUES ${shifts.join(', ')}) o (name, shift) ON o.name = s.${tableColumn}`;
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
async function writeTexts(publication: PostgresPublication): Promise<void> {
  const { plan, staging, tables, target, tx, turnedToText, createdTables, widened } = publication;
  const hasWritten = staging.get('lexical')!.created;
  const found = textColumns(plan.model, tables, hasWritten, (index, at) => {
    if (!staging.get(index)!.created) return null;
    if (turnedToText.has(columnId(index, at))) return 'turned';
    const { name, columns } = tables[index]!;
    // a table that was there before may be another by now
    const before = createdTables.has(name) ? undefined : target.tables.get(name);
    const there = before?.columns.get(columns[at]!.name)?.type;
    return there === 'text' || widened.get(columnId(index, at))?.kind === 'text' ? 'text' : null;
  });
  await runAll(
    tx,
    found.map((column) =>
      writtenTextStatement(column, plan.jobUuid, {
        literal: standardLiteral,
        relation: (table) => relation(publication, table),
        joins: false,
      }),
    ),
  );
}

/** `_keys`: the highest key ever given out, of every table that took rows. */
async function keepKeys(publication: PostgresPublication): Promise<void> {
  const { plan, tables, staging } = publication;
  const highest = tables.flatMap((table, index) => {
    const key = staging.get(index)!.created ? table.primaryKey[0] : undefined;
    return key === undefined ? [] : [[table.name, key] as const];
  });
  if (staging.get('documents')!.created) {
    highest.push([sideTableNames.documents, sideTableDefinitions.documents.primaryKey[0]!]);
  }
  if (plan.keys === 'hash')
    return noteTables(
      publication,
      highest.map(([name]) => name),
    );
  const statements = highest.map(
    ([name, key]) =>
      `INSERT INTO ${relation(publication, sideTableNames.keys)} AS k (table_name, last_value)
       SELECT ${standardLiteral(name)}, max(${doubleQuoted(key)}) FROM ${relation(publication, name)}
       ON CONFLICT (table_name) DO UPDATE SET last_value = greatest(k.last_value, excluded.last_value)`,
  );
  await runAll(publication.tx, statements);
  const names = highest.map(([name]) => name);
  await checkNamed(publication, sideTableNames.keys, 'table_name', names);
  const given = await publication.tx.unsafe<{ name: string; last: number }[]>(
    `SELECT table_name AS name, last_value AS last FROM ${relation(publication, sideTableNames.keys)}`,
  );
  for (const { name, last } of given) publication.keys.set(name, Number(last));
}
