/** Inserts staged rows into a table, and the items of their lists into the lists' tables. Makes the indexes. */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { keyIndexes, keyIndexStatement } from '../../../engine/sql/ddl.ts';
import { modelName, physicalName } from '../../../engine/sql/physical-model.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { brokenUnique, foldedName, type SqliteDb } from './database.ts';
import { readTables, isText } from './tables.ts';
import type { Publication, KeyOffsets } from '../publication.ts';
import { createReadStream } from 'node:fs';
import type { StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { MergedDocument } from '../../../ports/row-sink.ts';
import { documentIdentity } from '../../rows/ledger.ts';
import { columnId } from '../../rows/unfit-columns.ts';

// Indexes: unique keys that the rows satisfy, and indexes for queries and removals (`--indexes`).

type SqlitePublication = Publication<SqliteDb>;

export async function makeIndexes(publication: SqlitePublication): Promise<void> {
  const { database, drawn, made, plan } = publication;
  const known = readTables(database);
  const taken = new Set(
    database.read<{ name: string }>('SELECT name FROM sqlite_schema').map(({ name }) => foldedName(name)),
  );
  const free = (wanted: string): string => {
    for (let count = 0; ; count += 1) {
      const name = modelName(drawn.model, physicalName(sqlite, `${wanted}${count === 0 ? '' : count}`));
      if (taken.has(foldedName(name))) continue;
      taken.add(foldedName(name));
      return name;
    }
  };
  const began = performance.now();
  for (const [index, table] of drawn.tables.entries()) {
    if (known.get(foldedName(table.name))?.isView !== false) continue;
    const isMade = made.has(index);
    if (isMade) await makeUniqueKeys(publication, index, free);
    // the items of a row are found by it when documents are written back
    const isList = index >= plan.model.tables.length;
    const choice = isMade ? (plan.indexes ?? 'keys') : plan.indexes;
    const wanted = isList && isMade && choice === 'none' ? 'keys' : choice;
    if (wanted === undefined || wanted === 'none') continue;
    const there = isMade ? new Set<string>() : leadingColumns(publication, table.name);
    for (const key of keyIndexes(drawn.model, index, table, wanted)) {
      if (there.has(foldedName(key.column))) continue;
      const name = free(`${table.name}_${key.column}_idx`);
      await database.run(keyIndexStatement(sqlite, null, table.name, key, { name }));
      publication.indexes.count += 1;
    }
  }
  publication.indexes.seconds += (performance.now() - began) / 1000;
}

async function makeUniqueKeys(
  { database, drawn, brokenKeys }: SqlitePublication,
  index: number,
  free: (wanted: string) => string,
): Promise<void> {
  const { name: table, uniqueKeys } = drawn.tables[index]!;
  for (const { name, columns } of uniqueKeys) {
    try {
      database
        .prepareChange(
          `CREATE UNIQUE INDEX ${doubleQuoted(free(name))} ON ${doubleQuoted(table)} (${columns.map(doubleQuoted).join(', ')})`,
        )
        .run();
    } catch (error) {
      if (brokenUnique(error) === null) throw error;
      brokenKeys.push({ table, columns });
    }
  }
}

/** Returns the first columns of existing indexes. */
function leadingColumns({ database }: SqlitePublication, table: string): Set<string> {
  const rows = database.read<{ name: string | null }>(
    'SELECT i.name FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE i.seqno = 0',
    table,
  );
  return new Set(rows.flatMap(({ name }) => (name === null ? [] : [foldedName(name)])));
}

/**
 * Drops a unique index that rows violate. `broken`: its columns, as SQLite names them. Returns false if no index that may be dropped has
 * them.
 */
function dropUniqueIndex(publication: SqlitePublication, broken: readonly string[]): boolean {
  const { database, drawn, brokenKeys, changes } = publication;
  for (const { name: table, uniqueKeys } of drawn.tables)
    for (const { columns } of uniqueKeys) {
      if (columns.map((column) => `${table}.${column}`).join() !== broken.join()) continue;
      const index = database
        .read<{ name: string; columns: string }>(
          `SELECT l.name, (SELECT json_group_array(i.name ORDER BY i.seqno) FROM pragma_index_info(l.name) i) AS columns
             FROM pragma_index_list(?) l WHERE l."unique" = 1 AND l.origin = 'c'`,
          table,
        )
        .find((one) => one.columns === JSON.stringify(columns));
      if (index === undefined) return false;
      database.prepareChange(`DROP INDEX ${doubleQuoted(index.name)}`).run();
      brokenKeys.push({ table, columns });
      changes.push(`${table}: unique key over ${columns.join(', ')} dropped`);
      return true;
    }
  return false;
}

// Rows and items.

interface ListTarget {
  /** index of the column in the model */
  readonly column: number;
  readonly insert: StatementSync;
  readonly table: string;
  readonly convert: Converter;
  lastKey: bigint;
  /** items of the row that was read last; null: it has no list */
  items: string[] | null;
}

const wholeKinds: ReadonlySet<string> = new Set(['smallint', 'integer', 'bigint']);

/** Below this, an offset and a number of 15 digits add up exactly. */
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
  // an existing row is not written again, nor are the items of its lists: each key is looked up
  const together = plan.keys === 'hash' ? 1 : Math.max(1, Math.min(32, Math.floor(1000 / columns.length)));
  const insertSeveral = together > 1 ? insertion(together) : null;
  const full = columns.length * together;
  const waiting: BoundValue[] = Array(full).fill(null);
  let filled = 0;
  let count = 0;
  /** Inserts the waiting rows; returns the number of rows added. */
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
      const areInserted = filled === full && addWaiting() === 0;
      for (const list of lists) {
        if (!areInserted) insertItems(publication, list, parent);
        list.items = null;
      }
    }
    // lets the other tasks of this process run: refreshing its lock, receiving signals to end
    await setImmediate();
  }
  addWaiting();
  return count;
}

/** Keeps text that only looks like a staged value or list, in a column that became text for it. */
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
    // the key of a row precedes its values
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

/** Returns false if one of the rows violates a unique key, in which case none was added. */
function tryInsert(insert: StatementSync, values: readonly BoundValue[]): boolean {
  try {
    insert.run(...values);
    return true;
  } catch (error) {
    if (brokenUnique(error) === null) throw error;
    return false;
  }
}

/** Inserts a row. A unique key that the row violates is dropped: natural keys are optional. */
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

/** Converts keys of a job, which are small numbers; with the offset they may be large. */
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

/** Adds rows of a side table. Rows of `_unmapped` and `_lexical` belong to rows of any table, whose keys have offsets of their own. */
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
  // documents that are kept whole refer to themselves
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
        // each document once, and each row of another side table once
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

export interface ColumnReading {
  /** added to a whole number of few digits, which needs no converter; null: the column has no such numbers */
  readonly offset: number | null;
  /** for every other value except NULL */
  readonly convert: Converter;
}

const [tab, newline, backslash, zero, nine] = ['\t', '\n', '\\', '0', '9'].map((one) =>
  one.charCodeAt(0),
) as [number, number, number, number, number];

/** A number of at most so many digits is exact, even with an offset of as many digits. */
const exactDigits = 15;

/**
 * Puts the values of the row that begins at `from` into `values`, starting at `into`, and returns the start of the next row. `table`: its
 * name in the message of the AppError `unprocessable_input` that is thrown if the row has a different number of values.
 */
export function readRow(
  text: string,
  from: number,
  columns: readonly ColumnReading[],
  values: BoundValue[],
  into: number,
  table: string,
): number {
  const last = columns.length - 1;
  let at = from;
  for (let column = 0; column <= last; column += 1) {
    const { offset, convert } = columns[column]!;
    const end = column === last ? newline : tab;
    const begin = at;
    let code = text.charCodeAt(at);
    if (offset !== null) {
      let number = 0;
      while (code >= zero && code <= nine) {
        number = number * 10 + (code - zero);
        code = text.charCodeAt((at += 1));
      }
      if (code === end && at > begin && at - begin <= exactDigits) {
        values[into + column] = number + offset;
        at += 1;
        continue;
      }
    }
    let isPlain = true;
    while (code !== tab && code !== newline) {
      if (code === backslash) isPlain = false;
      code = text.charCodeAt((at += 1));
    }
    if (code !== end) throw otherCount(text, from, columns.length, table);
    const field = isPlain ? text.slice(begin, at) : unescaped(text.slice(begin, at));
    values[into + column] = field === null ? null : convert(field);
    at += 1;
  }
  return at;
}

function otherCount(text: string, from: number, wanted: number, table: string): AppError {
  const found = text.slice(from, text.indexOf('\n', from)).split('\t').length;
  return new AppError('unprocessable_input', `${table}: a row has ${found} values, not ${wanted}`);
}

const pieceBytes = 64 * 1024;

/** Reads pieces of a file, each of them whole rows. */
async function* stagedRows(path: string): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest: string[] = [];
  for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>) {
    const text = decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      rest.push(text);
      continue;
    }
    const rows = rest.join('') + text.slice(0, end);
    rest = [text.slice(end)];
    yield rows;
  }
}

/** Reads pieces of a file: the lines of its rows. */
async function* stagedLines(path: string): AsyncIterable<readonly string[]> {
  for await (const rows of stagedRows(path)) yield rows.slice(0, -1).split('\n');
}

/** Returns the fields of a line; null for NULL. */
function fieldsOf(line: string): (string | null)[] {
  const fields: (string | null)[] = line.split('\t');
  if (line.includes('\\'))
    for (let at = 0; at < fields.length; at += 1)
      if (fields[at]!.includes('\\')) fields[at] = unescaped(fields[at]!);
  return fields;
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', '\\': '\\' };

/** Returns the value of a field; null for NULL. */
function unescaped(field: string): string | null {
  return field === '\\N' ? null : field.replaceAll(/\\(.)/g, (_, letter: string) => escapes[letter]!);
}

export type BoundValue = string | number | null;
type Converter = (text: string) => BoundValue;

/** Whole numbers of so many characters, and decimals of so many digits, are represented exactly in 64 bits of floating point. */
const safeLength = 15;

/** Returns the converter for a value of the type, in a column that is declared as `sqlType`. A list is one text of its items. */
export function converterFor(type: ColumnType, sqlType: string): Converter {
  if (type.list === true) {
    const convert = converterFor({ ...type, list: false }, 'TEXT');
    return (text) => {
      const items = listItems(text);
      return items === null ? text : items.map(convert).join(' ');
    };
  }
  const asText = isText(sqlType);
  switch (type.kind) {
    case 'boolean':
      return asText
        ? (text) => (text === 't' ? 'true' : text === 'f' ? 'false' : text)
        : (text) => (text === 't' ? 1 : text === 'f' ? 0 : text);
    case 'smallint':
    case 'integer':
    case 'bigint':
      return asText ? plainNumber : (text) => (text.length <= safeLength ? numberOf(text) : text);
    case 'numeric':
      return asText
        ? plainNumber
        : (text) => (text.length <= safeLength + 1 ? numberOf(text) : plainNumber(text));
    case 'real':
    case 'double':
      return asText
        ? (text) => (infinite.test(text) ? text.replace('Infinity', 'INF') : plainNumber(text))
        : numberOf;
    default:
      return (text) => text;
  }
}

function numberOf(text: string): BoundValue {
  const number = +text;
  // INF and NaN stay text; for a value that is not a number, the column would have become text
  return Number.isFinite(number) ? number : text;
}

const infinite = /^-?Infinity$/;

const plain = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Returns a number without redundant characters: a plus sign, leading zeros. It has digits on both sides of the point. */
function plainNumber(text: string): string {
  if (plain.test(text)) return text;
  const found = /^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text);
  if (found === null) return text;
  const [, sign, whole = '', fraction = '', exponent = ''] = found;
  if (whole === '' && fraction === '') return text;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
}

/** Returns whether text of a document could be mistaken for the staged form of a value of the type. */
export function looksStaged(text: string, { kind, list }: ColumnType): boolean {
  if (list === true) return listItems(text) !== null;
  if (kind === 'boolean') return text === 't' || text === 'f';
  return (kind === 'real' || kind === 'double') && infinite.test(text);
}

/**
 * Parses `{1,2}`, or `{"a","b"}`, whose quotes and backslashes are preceded by a backslash; returns null for a value that is not a list.
 */
function listItems(text: string): string[] | null {
  if (!text.startsWith('{') || !text.endsWith('}')) return null;
  if (text === '{}') return [];
  if (text[1] !== '"') return text.slice(1, -1).split(',');
  return text
    .slice(2, -2)
    .split('","')
    .map((item) => (item.includes('\\') ? item.replaceAll(/\\(.)/g, '$1') : item));
}
