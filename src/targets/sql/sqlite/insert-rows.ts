/** Staged rows become rows of a table, the items of their lists rows of the lists' tables. */
import type { StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import { brokenUnique, foldedName, type SqliteDb } from './database.ts';
import {
  converterFor,
  fieldsOf,
  listItems,
  stagedLines,
  stagedRows,
  type BoundValue,
  type Converter,
} from './staged-text.ts';
import { isText } from './types.ts';
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { documentIdentity } from '../../rows/merging.ts';
import type { MergedDocument } from '../../../ports/rows/merge.ts';
import type { KeyOffsets } from '../publication.ts';
import type { Publication } from '../publication.ts';
import { dropUniqueIndex } from './indexes.ts';
import { readRow, type ColumnReading } from './row-values.ts';

type SqlitePublication = Publication<SqliteDb>;

interface ListTarget {
  /** index of the column in the model */
  readonly column: number;
  readonly insert: StatementSync;
  readonly table: string;
  readonly convert: Converter;
  lastKey: bigint;
  /** of the row that was read last; null: it has no list */
  items: string[] | null;
}

const wholeKinds: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint']);

/** Below it, an offset and a number of 15 digits add up exactly. */
const highestOffset = 1n << 52n;

/** Returns how many rows of the table were added. */
export async function insertRows(
  publication: SqlitePublication,
  index: number,
  offsets: KeyOffsets,
): Promise<number> {
  const { plan, drawn, staged, database, signal } = publication;
  const types = publication.types.get(index)!;
  const table = drawn.tables[index]!;
  const { columns } = plan.model.tables[index]!;
  const reads = columns.map(({ type }, at): ColumnReading => {
    const owner = table.keyOwners.get(table.columns[at]!.name);
    const offset = owner === undefined ? 0n : (offsets.get(foldedName(owner)) ?? 0n);
    if (offset > 0n)
      return {
        offset: offset < highestOffset ? Number(offset) : null,
        convert: shifted(Number(offset)),
      };
    const isWhole = wholeKinds.has(type.kind) && type.list !== true && !isText(types[at]!);
    return { offset: isWhole ? 0 : null, convert: converterFor(type, types[at]!) };
  });
  const lists = listTargets(publication, index, offsets);
  for (const list of lists)
    reads[list.column] = { offset: null, convert: (text) => (list.items = listItems(text))?.length ?? null };
  const keyAt = table.columns.findIndex(({ name }) => table.primaryKey.includes(name));
  keepTexts(publication, index, reads, keyAt);
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const onConflict =
    plan.keys === 'hash' && keyAt >= 0
      ? ` ON CONFLICT (${doubleQuoted(table.primaryKey[0]!)}) DO NOTHING`
      : '';
  const insertion = (rows: number): StatementSync => {
    const row = `(${columns.map(() => '?').join(', ')})`;
    const sql = `INSERT INTO ${doubleQuoted(table.name)} (${names}) VALUES ${Array(rows).fill(row).join(', ')}${onConflict}`;
    return plan.keys === 'hash' ? database.prepareChange(sql) : database.prepare(sql);
  };
  const insert = insertion(1);
  // a row that is there already is not written again, nor are the items of its lists: each is asked about
  const together = plan.keys === 'hash' ? 1 : Math.max(1, Math.min(32, Math.floor(1000 / columns.length)));
  const insertSeveral = together > 1 ? insertion(together) : null;
  const full = columns.length * together;
  const waiting: BoundValue[] = Array(full).fill(null);
  let filled = 0;
  let count = 0;
  /** Answers how many rows were added. */
  const addWaiting = (): number => {
    let added = 0;
    if (filled === full && insertSeveral !== null && tryInsert(insertSeveral, waiting)) added = together;
    else
      for (let from = 0; from < filled; from += columns.length)
        added += insertOne(publication, insert, waiting.slice(from, from + columns.length));
    filled = 0;
    count += added;
    return added;
  };
  for await (const rows of stagedRows(staged.get(index)!.path)) {
    signal?.throwIfAborted();
    for (let at = 0; at < rows.length;) {
      at = readRow(rows, at, reads, waiting, filled, table.name);
      const parent = waiting[filled + keyAt]!;
      filled += columns.length;
      const isThere = filled === full && addWaiting() === 0;
      for (const list of lists) {
        if (!isThere) insertItems(publication, list, parent);
        list.items = null;
      }
    }
    // what else this process has to do: refresh its lock, hear that it is to end
    await setImmediate();
  }
  addWaiting();
  return count;
}

/** Text that only looks like a staged value or list stays as it is, in a column that became text for it. */
function keepTexts(
  { plan, textRows }: SqlitePublication,
  index: number,
  reads: ColumnReading[],
  keyAt: number,
): void {
  let key = '';
  for (const at of plan.model.tables[index]!.columns.keys()) {
    const rows = textRows.get(columnId(index, at));
    if (rows === undefined) continue;
    // the key of a row stands before its values
    const { convert: convertKey } = reads[keyAt]!;
    reads[keyAt] = { offset: null, convert: (text) => convertKey((key = text)) };
    const { convert } = reads[at]!;
    reads[at] = { offset: null, convert: (text) => (rows.has(key) ? text : convert(text)) };
  }
}

function insertItems(publication: SqlitePublication, list: ListTarget, parent: BoundValue): void {
  for (const [position, item] of (list.items ?? []).entries()) {
    list.lastKey += 1n;
    insertOne(publication, list.insert, [String(list.lastKey), parent, position + 1, list.convert(item)]);
  }
}

/** False: one of the rows breaks a unique key, and none was added. */
function tryInsert(insert: StatementSync, values: readonly BoundValue[]): boolean {
  try {
    insert.run(...values);
    return true;
  } catch (error) {
    if (brokenUnique(error) === null) throw error;
    return false;
  }
}

/** A unique key that the row breaks goes: natural keys are wanted, not demanded. */
function insertOne(
  publication: SqlitePublication,
  insert: StatementSync,
  values: readonly BoundValue[],
): number {
  for (;;) {
    try {
      return Number(insert.run(...values).changes);
    } catch (error) {
      const broken = brokenUnique(error);
      if (broken === null || !dropUniqueIndex(publication, broken)) throw error;
    }
  }
}

/** Keys of a job are small numbers; what they become may be beyond those. */
function shifted(offset: number): Converter {
  return (text) => {
    const key = Number(text) + offset;
    return Number.isSafeInteger(key) ? key : String(BigInt(text) + BigInt(offset));
  };
}

function listTargets(
  { drawn, database, types }: SqlitePublication,
  owner: number,
  offsets: KeyOffsets,
): ListTarget[] {
  return drawn.lists
    .filter((list) => list.owner === owner)
    .map(({ column, table }) => {
      const { name, columns } = drawn.tables[table!]!;
      const names = columns.map((one) => doubleQuoted(one.name)).join(', ');
      return {
        column,
        table: name,
        insert: database.prepare(`INSERT INTO ${doubleQuoted(name)} (${names}) VALUES (?, ?, ?, ?)`),
        convert: converterFor(drawn.model.tables[table!]!.columns[3]!.type, types.get(table!)![3]!),
        lastKey: offsets.get(foldedName(name)) ?? 0n,
        items: null,
      };
    });
}

const namedRows = {
  documents: null,
  unmapped: ['parent_table', 'parent_key'],
  lexical: ['table_name', 'row_key'],
} as const;

/** Adds rows of a table beside the data. Rows of `_unmapped` and `_lexical` belong to rows of any table, whose keys have offsets of their own. */
export async function addSideRows(
  { database, plan, drawn, staged, signal, ...publication }: SqlitePublication,
  side: keyof typeof namedRows,
  offsets: KeyOffsets,
): Promise<number> {
  const merging = side === 'documents' ? publication.merging : null;
  const merged = new Map(
    (merging === null ? [] : publication.merge.documents).map((one) => [documentIdentity(one), one]),
  );
  const isHashed = plan.keys === 'hash';
  const old = new Set(
    isHashed
      ? database
          .read<{ key: bigint }>(`SELECT document_key AS key FROM ${doubleQuoted(sideTableNames.documents)}`)
          .map(({ key }) => String(key))
      : [],
  );
  const { columns: ofSide } = sideTableDefinitions[side];
  const columns = merging === null ? ofSide : [...ofSide, ...mergeColumns];
  const convert = columns.map(({ type }) => converterFor(type, type.kind === 'text' ? 'TEXT' : 'INTEGER'));
  const shifts = new Map<string, bigint>(
    plan.model.tables.map(({ name }, index) => [
      name,
      offsets.get(foldedName(drawn.tables[index]!.keysOf)) ?? 0n,
    ]),
  );
  // documents that are kept whole hang from themselves
  const documentShift = offsets.get(sideTableNames.documents) ?? 0n;
  shifts.set(sideTableNames.documents, documentShift);
  const [tableAt, keyAt] = (namedRows[side] ?? []).map((name) =>
    columns.findIndex((one) => one.name === name),
  );
  const insert = database.prepareChange(
    `INSERT INTO ${doubleQuoted(sideTableNames[side])} (${columns.map(({ name }) => doubleQuoted(name)).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const seen = new Set<string>();
  let count = 0;
  for await (const lines of stagedLines(staged.get(side)!.path)) {
    signal?.throwIfAborted();
    for (const line of lines) {
      const fields = fieldsOf(line);
      if (merging !== null) addMerged(merged, merging.moment, fields);
      if (isHashed) {
        // each document once, and what lies beside it once
        const told = side === 'documents' ? fields[0]! : JSON.stringify(fields);
        if (old.has(fields[0]!) || seen.has(told)) continue;
        seen.add(told);
      }
      const values: BoundValue[] = fields.map((field, at) => (field === null ? null : convert[at]!(field)));
      const shift = (at: number, by: bigint): void => {
        if (fields[at] != null && by > 0n) values[at] = String(BigInt(fields[at]) + by);
      };
      shift(0, documentShift);
      if (keyAt !== undefined) shift(keyAt, shifts.get(fields[tableAt!] ?? '') ?? 0n);
      insert.run(...values);
      count += 1;
    }
  }
  return count;
}

const [nameAt, sha256At] = ['name', 'sha256'].map((name) =>
  sideTableDefinitions.documents.columns.findIndex((column) => column.name === name),
) as [number, number];

/** Completes a row of `_documents` with its key in the merge. */
function addMerged(
  merged: ReadonlyMap<string, MergedDocument>,
  moment: string,
  fields: (string | null)[],
): void {
  const document = merged.get(documentIdentity({ name: fields[nameAt]!, written: fields[sha256At]! }));
  if (document === undefined) throw new Error(`${fields[nameAt]} is not a document of this job`);
  fields[sha256At] = document.sha256;
  fields.push(document.key, moment, null);
}
