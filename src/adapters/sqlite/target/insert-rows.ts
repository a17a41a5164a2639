/** Staged rows of one table into it, and the items of its lists into theirs. */
import type { StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import { brokenUnique, foldedName } from '../database.ts';
import {
  converterFor,
  fieldsOf,
  listItems,
  stagedLines,
  type BoundValue,
  type Converter,
} from '../staged-text.ts';
import { dropUniqueIndex } from './indexes.ts';
import type { SqlitePublication } from './publication.ts';

/** By folded table name: what is added to the keys of this job, which count from 1. */
export type KeyOffsets = ReadonlyMap<string, bigint>;

interface ListTarget {
  /** index of the column in the model */
  readonly column: number;
  readonly insert: StatementSync;
  readonly table: string;
  readonly convert: Converter;
  lastKey: bigint;
}

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
  const convert = columns.map(({ type }, at): Converter => {
    const owner = table.keyOwners.get(table.columns[at]!.name);
    const offset = owner === undefined ? 0n : (offsets.get(foldedName(owner)) ?? 0n);
    return offset === 0n ? converterFor(type, types[at]!) : shifted(Number(offset));
  });
  const lists = listTargets(publication, index, itemTypes, offsets);
  for (const { column } of lists) convert[column] = (text) => listItems(text)?.length ?? null;
  const keyAt = table.columns.findIndex(({ name }) => table.primaryKey.includes(name));
  const names = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const onConflict =
    plan.keys === 'hash' && keyAt >= 0
      ? ` ON CONFLICT (${doubleQuoted(table.primaryKey[0]!)}) DO NOTHING`
      : '';
  const insertion = (rows: number): StatementSync => {
    const row = `(${columns.map(() => '?').join(', ')})`;
    return database.prepare(
      `INSERT INTO ${doubleQuoted(table.name)} (${names}) VALUES ${Array(rows).fill(row).join(', ')}${onConflict}`,
    );
  };
  const insert = insertion(1);
  // it tells the key of the row, which may be beyond 2^53; numbers take less time
  if (plan.keys === 'hash') insert.setReadBigInts(true);
  // a row that is there already is not written again, nor are the items of its lists: each is asked about
  const together = plan.keys === 'hash' ? 1 : Math.max(1, Math.min(32, Math.floor(1000 / columns.length)));
  const insertSeveral = together > 1 ? insertion(together) : null;
  let count = 0;
  let waiting: BoundValue[] = [];
  const addWaiting = (): void => {
    if (waiting.length === columns.length * together && insertSeveral !== null) {
      if (tryInsert(insertSeveral, waiting)) {
        waiting = [];
        return;
      }
    }
    for (let from = 0; from < waiting.length; from += columns.length)
      insertOne(publication, insert, waiting.slice(from, from + columns.length));
    waiting = [];
  };
  for await (const lines of stagedLines(staged.get(index)!.path)) {
    signal?.throwIfAborted();
    for (const line of lines) {
      const fields = fieldsOf(line);
      if (fields.length !== columns.length)
        throw new AppError(
          'unprocessable_input',
          `${table.name}: a row has ${fields.length} values, not ${columns.length}`,
        );
      const values = fields as BoundValue[];
      const items = lists.length === 0 ? [] : lists.map(({ column }) => fields[column]);
      for (let at = 0; at < values.length; at += 1)
        if (values[at] !== null) values[at] = convert[at]!(values[at] as string);
      if (insertSeveral === null) {
        if (insertOne(publication, insert, values) === 0) continue;
      } else {
        for (let at = 0; at < values.length; at += 1) waiting.push(values[at]!);
        if (waiting.length === columns.length * together) addWaiting();
      }
      count += 1;
      for (const [at, list] of lists.entries()) insertItems(publication, list, values[keyAt]!, items[at]!);
    }
    // what else this process has to do: refresh its lock, hear that it is to end
    await setImmediate();
  }
  addWaiting();
  return count;
}

function insertItems(
  publication: SqlitePublication,
  list: ListTarget,
  parent: BoundValue,
  text: string | null,
): void {
  if (text === null) return;
  for (const [position, item] of (listItems(text) ?? []).entries()) {
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
      };
    });
}
