/** Staged rows of one table into it, and the items of its lists into theirs. */
import type { StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { columnId } from '../../../adapters/row-sinks/unfit-columns.ts';
import { brokenUnique, foldedName } from './database.ts';
import { converterFor, listItems, stagedRows, type BoundValue, type Converter } from './staged-text.ts';
import { isText } from './types.ts';
import { dropUniqueIndex } from './indexes.ts';
import type { SqlitePublication } from './publication.ts';
import { readRow, type ColumnReading } from './row-values.ts';

/** By folded table name: what is added to the keys of this job, which count from 1. */
export type KeyOffsets = ReadonlyMap<string, bigint>;

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

/** Answers how many rows were added. `types`: of the table's columns, `itemTypes`: of the items, by index of the drawn list table. */
export async function insertRows(
  publication: SqlitePublication,
  index: number,
  types: readonly string[],
  itemTypes: ReadonlyMap<number, string>,
  offsets: KeyOffsets,
): Promise<number> {
  const { plan, drawn, staged, database, signal } = publication;
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
  const lists = listTargets(publication, index, itemTypes, offsets);
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
  { drawn, database }: SqlitePublication,
  owner: number,
  itemTypes: ReadonlyMap<number, string>,
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
        convert: converterFor(drawn.model.tables[table!]!.columns[3]!.type, itemTypes.get(table!)!),
        lastKey: offsets.get(foldedName(name)) ?? 0n,
        items: null,
      };
    });
}
