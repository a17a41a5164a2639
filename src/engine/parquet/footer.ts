/** Writes the metadata around the values of a file: page headers, the footer, and the page index (Parquet's `parquet.thrift`). */
import { ENCODING, type ColumnPage, PHYSICAL, type LogicalType, type ParquetType } from './column-chunk.ts';
import { ByteBuffer } from '../shred/byte-buffer.ts';

const UNCOMPRESSED = 0;
const ZSTD = 6;
const OPTIONAL = 1;
const REPEATED = 2;
const CONVERTED_LIST = 3;
export const createdBy = 'conversion-job-service version 1';

/** A column of a file. */
export interface FileColumn {
  readonly name: string;
  readonly type: ParquetType;
  readonly isList: boolean;
  /** numbers of the column, and of the items of a list */
  readonly ids: readonly [column: number, item?: number] | null;
}

/** The place of a page, including its header. */
export interface PlacedPage {
  readonly page: ColumnPage;
  readonly at: number;
  readonly bytes: number;
}

interface PlacedPages {
  readonly pages: readonly PlacedPage[];
  readonly dictionary: PlacedPage | null;
}

/** A column of a row group that is written: what the end of the file needs of it, without its pages, of which there may be very many. */
export interface PlacedColumn {
  readonly dictionaryAt: number | null;
  /** the first page of values */
  readonly at: number;
  readonly entries: number;
  /** number of pages with values, by their encoding */
  readonly pageCounts: ReadonlyMap<number, number>;
  readonly index: PageIndex;
  /** bytes including headers, before compression */
  readonly plainBytes: number;
  readonly bytes: number;
  readonly isCompressed: boolean;
  readonly nulls: number;
  readonly bounds: ColumnPage['bounds'];
}

/** The index of a column's pages, as it is written. */
interface PageIndex {
  /** null: one of the pages has no bounds */
  readonly bounds: Uint8Array | null;
  readonly offsets: Uint8Array;
}

export interface PlacedGroup {
  readonly rows: number;
  readonly columns: readonly PlacedColumn[];
}

/** The place of a column's page index. */
export interface PlacedIndex {
  readonly offsets: readonly [at: number, bytes: number];
  /** null: no bounds */
  readonly bounds: readonly [at: number, bytes: number] | null;
}

export function pageHeader(page: ColumnPage, isDictionary: boolean, compressedBytes: number): Uint8Array {
  const out = new ThriftWriter();
  out.i32(1, isDictionary ? 2 : 0);
  out.i32(2, page.bytes);
  out.i32(3, compressedBytes);
  out.struct(isDictionary ? 7 : 5, () => {
    out.i32(1, page.entries);
    out.i32(2, page.encoding);
    if (isDictionary) return;
    out.i32(3, ENCODING.runs);
    out.i32(4, ENCODING.runs);
  });
  return out.finish();
}

function isEmpty({ page }: PlacedPage): boolean {
  return page.nulls === page.entries;
}

function startOf({ dictionaryAt, at }: PlacedColumn): number {
  return dictionaryAt ?? at;
}

/** `told`: the facts about the whole column. */
export function placedColumn(
  { pages, dictionary }: PlacedPages,
  told: Pick<PlacedColumn, 'plainBytes' | 'bytes' | 'isCompressed' | 'nulls' | 'bounds'>,
): PlacedColumn {
  const kinds = Map.groupBy(pages, ({ page }) => page.encoding);
  return {
    dictionaryAt: dictionary?.at ?? null,
    at: pages[0]!.at,
    entries: pages.reduce((sum, { page }) => sum + page.entries, 0),
    pageCounts: new Map([...kinds].map(([encoding, { length }]) => [encoding, length])),
    index: { bounds: columnIndex(pages), offsets: offsetIndex(pages) },
    ...told,
  };
}

/** Returns the bounds of a column's pages, or null if one of them has none. */
function columnIndex(pages: readonly PlacedPage[]): Uint8Array | null {
  if (pages.some((placed) => placed.page.bounds === null && !isEmpty(placed))) return null;
  const none = new Uint8Array(0);
  const out = new ThriftWriter();
  out.list(1, 'boolean', pages.map(isEmpty));
  out.list(
    2,
    'binary',
    pages.map(({ page }) => page.bounds?.least.bytes ?? none),
  );
  out.list(
    3,
    'binary',
    pages.map(({ page }) => page.bounds?.greatest.bytes ?? none),
  );
  out.i32(4, 0);
  out.list(
    5,
    'i64',
    pages.map(({ page }) => page.nulls),
  );
  return out.finish();
}

function offsetIndex(pages: readonly PlacedPage[]): Uint8Array {
  const out = new ThriftWriter();
  let row = 0;
  out.list(1, 'struct', pages, ({ page, at, bytes }) => {
    out.i64(1, at);
    out.i32(2, bytes);
    out.i64(3, row);
    row += page.rows;
  });
  return out.finish();
}

export function footer(
  columns: readonly FileColumn[],
  groups: readonly PlacedGroup[],
  indexes: readonly (readonly PlacedIndex[])[],
  keyValues: Readonly<Record<string, string>>,
): Uint8Array {
  const out = new ThriftWriter();
  out.i32(1, 1);
  const nodes = columns.flatMap(schemaNodes);
  out.list(2, 'struct', [{ name: 'schema', children: columns.length }, ...nodes], (node) =>
    writeNode(out, node),
  );
  out.i64(
    3,
    groups.reduce((sum, { rows }) => sum + rows, 0),
  );
  let ordinal = 0;
  out.list(4, 'struct', groups, (group) => {
    writeGroup(out, columns, group, indexes[ordinal]!, ordinal);
    ordinal += 1;
  });
  out.list(5, 'struct', Object.entries(keyValues), ([key, value]) => {
    out.binary(1, key);
    out.binary(2, value);
  });
  out.binary(6, createdBy);
  // column orders: each column is ordered by its type
  out.list(7, 'struct', columns, () => out.struct(1, () => {}));
  return out.finish();
}

interface SchemaNode {
  readonly name: string;
  readonly children?: number;
  readonly repetition?: number;
  readonly type?: ParquetType;
  readonly isList?: boolean;
  readonly id?: number | undefined;
}

function schemaNodes({ name, type, isList, ids }: FileColumn): SchemaNode[] {
  if (!isList) return [{ name, type, repetition: OPTIONAL, id: ids?.[0] }];
  return [
    { name, isList, children: 1, repetition: OPTIONAL, id: ids?.[0] },
    { name: 'list', children: 1, repetition: REPEATED },
    { name: 'element', type, repetition: OPTIONAL, id: ids?.[1] },
  ];
}

const converted = { date: 6, time: 8, timestamp: 10, text: 0, decimal: 5 } as const;
const convertedIntegers = { 16: 16, 32: 17, 64: 18 } as const;

function writeNode(out: ThriftWriter, { name, children, repetition, type, isList, id }: SchemaNode): void {
  if (type !== undefined) out.i32(1, type.physical);
  if (type?.physical === PHYSICAL.fixed) out.i32(2, type.width);
  if (repetition !== undefined) out.i32(3, repetition);
  out.binary(4, name);
  if (children !== undefined) out.i32(5, children);
  if (isList === true) out.i32(6, CONVERTED_LIST);
  const logical = type?.logical;
  if (logical?.kind === 'integer') out.i32(6, convertedIntegers[logical.bits]);
  else if (logical !== undefined && logical.kind !== 'none') out.i32(6, converted[logical.kind]);
  if (logical?.kind === 'decimal') {
    out.i32(7, logical.scale);
    out.i32(8, logical.precision);
  }
  if (id !== undefined) out.i32(9, id);
  if (isList === true) out.struct(10, () => out.struct(3, () => {}));
  else if (logical !== undefined && logical.kind !== 'none') out.struct(10, () => writeLogical(out, logical));
}

function writeLogical(out: ThriftWriter, logical: LogicalType): void {
  switch (logical.kind) {
    case 'text':
      return out.struct(1, () => {});
    case 'decimal':
      return out.struct(5, () => {
        out.i32(1, logical.scale);
        out.i32(2, logical.precision);
      });
    case 'date':
      return out.struct(6, () => {});
    case 'time':
    case 'timestamp':
      return out.struct(logical.kind === 'time' ? 7 : 8, () => {
        out.boolean(1, logical.isUtc);
        // microseconds
        out.struct(2, () => out.struct(2, () => {}));
      });
    case 'integer':
      return out.struct(10, () => {
        out.byte(1, logical.bits);
        out.boolean(2, true);
      });
    case 'none':
  }
}

function writeGroup(
  out: ThriftWriter,
  columns: readonly FileColumn[],
  group: PlacedGroup,
  indexes: readonly PlacedIndex[],
  ordinal: number,
): void {
  let at = 0;
  out.list(1, 'struct', group.columns, (column) => {
    const index = indexes[at]!;
    out.i64(2, startOf(column));
    out.struct(3, () => writeColumn(out, columns[at]!, column));
    out.i64(4, index.offsets[0]);
    out.i32(5, index.offsets[1]);
    if (index.bounds !== null) {
      out.i64(6, index.bounds[0]);
      out.i32(7, index.bounds[1]);
    }
    at += 1;
  });
  out.i64(
    2,
    group.columns.reduce((sum, { plainBytes }) => sum + plainBytes, 0),
  );
  out.i64(3, group.rows);
  out.i64(5, startOf(group.columns[0]!));
  out.i64(
    6,
    group.columns.reduce((sum, { bytes }) => sum + bytes, 0),
  );
  if (ordinal < 32_768) out.i16(7, ordinal);
}

function writeColumn(out: ThriftWriter, { name, type, isList }: FileColumn, column: PlacedColumn): void {
  const { dictionaryAt, pageCounts, bounds, nulls } = column;
  out.i32(1, type.physical);
  const encodings = new Set([
    ...pageCounts.keys(),
    ENCODING.runs,
    ...(dictionaryAt === null ? [] : [ENCODING.plain]),
  ]);
  out.list(2, 'i32', [...encodings]);
  out.list(3, 'binary', isList ? [name, 'list', 'element'] : [name]);
  out.i32(4, column.isCompressed ? ZSTD : UNCOMPRESSED);
  out.i64(5, column.entries);
  out.i64(6, column.plainBytes);
  out.i64(7, column.bytes);
  out.i64(9, column.at);
  if (dictionaryAt !== null) out.i64(11, dictionaryAt);
  out.struct(12, () => {
    out.i64(3, nulls);
    if (bounds === null) return;
    out.binary(5, bounds.greatest.bytes);
    out.binary(6, bounds.least.bytes);
    out.boolean(7, bounds.greatest.isExact);
    out.boolean(8, bounds.least.isExact);
  });
  const counts = [...pageCounts].map(([encoding, count]) => ({ kind: 0, encoding, count }));
  if (dictionaryAt !== null) counts.unshift({ kind: 2, encoding: ENCODING.plain, count: 1 });
  out.list(13, 'struct', counts, ({ kind, encoding, count }) => {
    out.i32(1, kind);
    out.i32(2, encoding);
    out.i32(3, count);
  });
}

// Thrift's compact protocol, as far as Parquet's metadata needs it (Thrift, "Compact protocol encoding").

const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

type ListKind = 'boolean' | 'i32' | 'i64' | 'binary' | 'struct';
const listKinds: Readonly<Record<ListKind, number>> = {
  boolean: TRUE,
  i32: I32,
  i64: I64,
  binary: BINARY,
  struct: STRUCT,
};

const utf8 = new TextEncoder();

/** Writes one structure; fields in ascending order of their numbers. */
class ThriftWriter {
  readonly #out = new ByteBuffer(1024);
  /** number of the last field of each structure that is open */
  readonly #last: number[] = [0];

  /** Ends the structure and returns its bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    this.#out.pushByte(0);
    return this.#out.take();
  }

  boolean(field: number, value: boolean): void {
    this.#field(field, value ? TRUE : FALSE);
  }

  byte(field: number, value: number): void {
    this.#field(field, BYTE);
    this.#out.pushByte(value);
  }

  i16(field: number, value: number): void {
    this.#field(field, I16);
    this.#varint(value * 2);
  }

  /** must not be negative; no number of Parquet's metadata is */
  i32(field: number, value: number): void {
    this.#field(field, I32);
    this.#varint(value * 2);
  }

  /** must not be negative */
  i64(field: number, value: number): void {
    this.#field(field, I64);
    this.#varint(value * 2);
  }

  binary(field: number, value: Uint8Array | string): void {
    this.#field(field, BINARY);
    this.#bytes(typeof value === 'string' ? utf8.encode(value) : value);
  }

  struct(field: number, write: () => void): void {
    this.#field(field, STRUCT);
    this.#inner(write);
  }

  list<T>(field: number, kind: ListKind, items: readonly T[], write?: (item: T) => void): void {
    this.#field(field, LIST);
    const code = listKinds[kind];
    if (items.length < 15) this.#out.pushByte((items.length << 4) | code);
    else {
      this.#out.pushByte(0xf0 | code);
      this.#varint(items.length);
    }
    for (const item of items) {
      if (kind === 'struct') this.#inner(() => write!(item));
      else if (kind === 'boolean') this.#out.pushByte(item === true ? TRUE : FALSE);
      else if (typeof item === 'number') this.#varint(item * 2);
      else this.#bytes(typeof item === 'string' ? utf8.encode(item) : (item as Uint8Array));
    }
  }

  #inner(write: () => void): void {
    this.#last.push(0);
    write();
    this.#last.pop();
    this.#out.pushByte(0);
  }

  #field(field: number, kind: number): void {
    const before = this.#last.at(-1)!;
    this.#last[this.#last.length - 1] = field;
    this.#out.pushByte(((field - before) << 4) | kind);
  }

  #bytes(bytes: Uint8Array): void {
    this.#varint(bytes.length);
    this.#out.push(bytes, 0, bytes.length);
  }

  /** below 2^53 */
  #varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#out.pushByte((rest % 128) | 128);
    this.#out.pushByte(rest);
  }
}
