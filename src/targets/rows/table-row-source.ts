/**
 * Reads rows of a database or of a folder of tables to write documents back. Rows come in the order of their row keys, which is document
 * order.
 */
import type {
  RowBlocks,
  RowStream,
  DocumentRows,
  LexicalRow,
  UnmappedRow,
} from '../../engine/unshred/rows/document-rows.ts';
import {
  cellIs,
  cellNumber,
  cellText,
  type RowBytes,
  type TextRow,
  decodedRows,
} from '../../engine/unshred/rows/values.ts';
import { hasOtherKeys, otherKeysMessage } from '../../engine/model/keys.ts';
import { peekElement, peekMember } from '../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../engine/model/packed/models.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { isVersion, type DocumentVersions } from '../../engine/sql/loaded-documents.ts';
import type { RelationalModel, Table } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import type { RowSource, StoredDocument } from '../../ports/row-source.ts';
import type { TargetLoad } from '../../ports/row-sink.ts';

// Buffers the rows of a small table beside the data, so that each table of the data can select its own from memory.

/** keyed by the name in their first column */
type HeldRows = ReadonlyMap<string, readonly RowBytes[]>;

/** Buffers the rows of `blocks`, which have that many columns, and closes `blocks`. */
export async function bufferRows(
  blocks: RowBlocks & { close(): Promise<void> },
  columns: number,
): Promise<HeldRows> {
  const rows = new Map<string, RowBytes[]>();
  const nameOf = textsOf(0);
  try {
    for (let block = await blocks.next(); block !== null; block = await blocks.next())
      for (let row = 0; row < block.rows; row += 1) {
        const held = { bytes: block.bytes, cells: block.cells, at: row * columns * 2 };
        const name = nameOf(held)!;
        const others = rows.get(name);
        if (others === undefined) rows.set(name, [held]);
        else others.push(held);
      }
  } finally {
    await blocks.close();
  }
  return rows;
}

/** Returns a function that reads the text of a column. It caches the last text, because consecutive rows mostly have the same one. */
function textsOf(column: number): (row: RowBytes) => string | null {
  let last: RowBytes | null = null;
  let text: string | null = null;
  return (row) => {
    if (last !== null && text !== null) {
      const from = last.cells[last.at + column * 2]!;
      if (cellIs(row, column, last.bytes, from, last.cells[last.at + column * 2 + 1]!)) return text;
    }
    last = row;
    text = cellText(row, column);
    return text;
  };
}

/** Sorts rows by the integers in these columns; most are sorted already. */
export function inOrderOf(rows: readonly RowBytes[], columns: readonly number[]): readonly RowBytes[] {
  if (rows.every((row, at) => at === 0 || isBefore(rows[at - 1]!, row, columns))) return rows;
  const keys = rows.map((row) => columns.map((column) => BigInt(cellText(row, column) ?? 0)));
  const order = (one: number, other: number): number => {
    for (const [at, own] of keys[one]!.entries()) {
      const another = keys[other]![at]!;
      if (own !== another) return own < another ? -1 : 1;
    }
    return 0;
  };
  return [...keys.keys()].toSorted(order).map((at) => rows[at]!);
}

/** Returns whether the row is before the other, as far as doubles show; false means that it may be. */
function isBefore(row: RowBytes, other: RowBytes, columns: readonly number[]): boolean {
  for (const column of columns) {
    const [own, another] = [cellNumber(row, column), cellNumber(other, column)];
    if (own < another) return true;
    if (own !== another || !Number.isSafeInteger(own)) return false;
  }
  return true;
}

/** Returns a stream of the values of these rows in `columns`, positioned at the first row. */
export function listedRows<Row>(
  rows: readonly RowBytes[],
  columns: readonly number[],
  toRow: (row: TextRow) => Row,
): RowStream<Row> {
  let next = 0;
  const stream = {
    head: null as Row | null,
    advance(): undefined {
      const row = rows[next++];
      stream.head = row === undefined ? null : toRow(columns.map((column) => cellText(row, column)));
    },
  };
  stream.advance();
  return stream;
}

// The source.

/** A table as it is in the target; columns are named as in the model. */
export interface ReadTable {
  /** the relation that follows FROM */
  readonly from: string;
  /** a key or position as an integer expression; null if the table has no such column */
  whole(column: string): string | null;
  /** a condition: the column is equal to the text */
  holds(column: string, text: string): string;
}

/** The order in which rows are returned. */
export interface RowOrder {
  /** the name of the table */
  readonly name: string;
  /** the expressions that follow ORDER BY */
  readonly by: readonly string[];
  /** the column whose integers alone determine the order */
  readonly key?: string;
}

/** Selects the rows of one document: the column with the document key, and that key. */
export interface DocumentRowsOnly {
  readonly column: string;
  readonly key: string;
}

/** `order`: absent if `rest`, which follows FROM, already contains the order. */
export interface RowQuery {
  readonly rest: string;
  readonly order?: RowOrder;
  /** the same condition as `rest`, if `rest` asks only for the rows of one document */
  readonly only?: DocumentRowsOnly | null;
}

export interface ClosableBlocks extends RowBlocks {
  close(): Promise<void>;
}

/** The tables of one target, open for reading. */
export interface ReadTables<Known extends ReadTable> {
  /** null if there is no table of that name */
  table(name: string): Known | null;
  /** Returns the rows with those columns, named as in the model. A column that does not exist is empty. */
  blocks(table: Known, query: RowQuery, columns: readonly string[]): Promise<ClosableBlocks>;
  /**
   * Returns all rows of a small table, in any order; null if it has too many to be buffered. Absent if reading selected rows is cheaper.
   */
  fewRows?(table: Known, columns: readonly string[]): Promise<ClosableBlocks | null>;
  /** the hash of the model that a job loaded by; null if the ledger does not have the job */
  modelHashOf(jobUuid: string): Promise<string | null>;
  close(): Promise<void>;
}

interface TableRowSourceOptions<Known extends ReadTable> {
  readonly label: string;
  /** AppError `not_found` if no documents were loaded */
  readonly openTables: (model: RelationalModel) => Promise<ReadTables<Known>>;
  readonly loads: () => Promise<readonly TargetLoad[]>;
  /** converts an error of the target to an AppError that names it; returns other errors unchanged */
  readonly faultOf: (error: unknown) => unknown;
}

/** Selects the rows of a table beside the data that belong to one table of it. */
interface BesideQuery {
  /** the table that contains the rows */
  readonly in: string;
  /** the column with the name of the table that the rows belong to, and that name */
  readonly nameColumn: string;
  readonly name: string;
  /** the columns among `columns` that give the order; their values are integers */
  readonly by: readonly string[];
  readonly columns: readonly string[];
  /** the name under which the order is cached */
  readonly orderName: string;
}

/** Selects the rows of one document, or of it and those after it. */
interface DocumentRange {
  readonly from: '=' | '>=';
  readonly documentKey: string;
}

/** The columns that describe a document. */
const documentFacts = ['document_key', 'name', 'job_uuid', 'loaded_at', 'valid_from', 'valid_to'];

export function createTableRowSource<Known extends ReadTable>(
  options: TableRowSourceOptions<Known>,
): RowSource {
  return new TableRowSource(options);
}

class TableRowSource<Known extends ReadTable> implements RowSource {
  readonly label: string;
  readonly #options: TableRowSourceOptions<Known>;
  #model!: RelationalModel;
  #tables: ReadTables<Known> | null = null;
  #streams: ClosableBlocks[] = [];
  readonly #named = new Map<string, Promise<ReadonlySet<string>>>();
  /** keyed by table beside the data; null: it has too many rows to be buffered */
  readonly #held = new Map<string, Promise<HeldRows | null>>();

  constructor(options: TableRowSourceOptions<Known>) {
    this.#options = options;
    this.label = options.label;
  }

  loads(): Promise<readonly TargetLoad[]> {
    return this.#guarded(() => this.#options.loads());
  }

  async open(model: RelationalModel): Promise<void> {
    this.#model = model;
    await this.#guarded(async () => {
      this.#tables = await this.#options.openTables(model);
      this.#documents();
      for (const [known, index] of tableIndexes(model)) {
        const table = this.#tables.table(known);
        if (table === null) continue;
        const columns = peekMember(peekElement(model.tables, index), 'columns');
        if (hasOtherKeys(columns, (name) => table.whole(name) !== null))
          throw new AppError('conflict', otherKeysMessage(this.label, known));
      }
    });
  }

  async documentCount(name?: string, versions?: DocumentVersions): Promise<number> {
    let count = 0;
    for await (const document of this.documents(name, versions)) if (document.key !== '') count += 1;
    return count;
  }

  async *documents(name?: string, versions?: DocumentVersions): AsyncIterable<StoredDocument> {
    const table = this.#documents();
    const key = table.whole('document_key')!;
    const order = { name: sideTableNames.documents, by: [key], key: 'document_key' };
    const blocks = await this.#guarded(() => this.#tables!.blocks(table, { rest: '', order }, documentFacts));
    try {
      const stream = await this.#guarded(() => decodedRows(blocks, documentFacts.length, (row) => row));
      for (let row = stream.head; row !== null; row = stream.head) {
        const [documentKey, documentName, jobUuid, loadedAt = null, from = null, to = null] = row;
        const wait = stream.advance();
        if (wait !== undefined) await this.#guarded(() => wait);
        if (!isVersion(versions, { loadedAt, from, to })) continue;
        if (name !== undefined && documentName !== name) continue;
        const modelHash = jobUuid == null ? null : await this.#tables!.modelHashOf(jobUuid);
        yield { key: documentKey!, name: documentName!, modelHash };
      }
    } finally {
      await blocks.close();
    }
  }

  rowsOf(documentKey: string): Promise<DocumentRows> {
    return this.#rows(documentKey, '=');
  }

  rowsFrom(documentKey: string | null): Promise<DocumentRows> {
    return this.#rows(documentKey, '>=');
  }

  async #rows(documentKey: string | null, from: '=' | '>='): Promise<DocumentRows> {
    await this.#closeStreams();
    const { tables } = this.#model;
    const ofDocument = (table: Known, column: string): string =>
      documentKey === null ? '' : ` WHERE ${table.whole(column)!} ${from} ${documentKey}`;
    const range = { from, documentKey: documentKey ?? '0' };
    return {
      table: async (index) => {
        const table = this.#tables!.table(tables[index]!.name);
        if (table === null) return null;
        const keyColumn = columnOf(tables[index]!, 'row_key');
        const key = table.whole(keyColumn)!;
        const columns = tables[index]!.columns.map((column) => column.name);
        const order = { name: tables[index]!.name, by: [key], key: keyColumn };
        if (documentKey === null) return this.#blocks(table, { rest: '', order, only: null }, columns);
        const column = columnOf(tables[index]!, 'document');
        const rest = ofDocument(table, column);
        const only = from === '=' ? { column, key: documentKey } : null;
        return this.#blocks(table, { rest, order, only }, columns);
      },
      lexical: (index) =>
        this.#rowsBeside<LexicalRow>(
          {
            in: sideTableNames.lexical,
            nameColumn: 'table_name',
            name: tables[index]!.name,
            by: ['row_key'],
            columns: ['row_key', 'column_name', 'content'],
            orderName: `${sideTableNames.lexical} ${index}`,
          },
          range,
          lexicalRow,
        ),
      unmapped: (index) => {
        const name = index === null ? sideTableNames.documents : tables[index]!.name;
        return this.#rowsBeside<UnmappedRow>(
          {
            in: sideTableNames.unmapped,
            nameColumn: 'parent_table',
            name,
            by: ['parent_key', 'position'],
            columns: ['parent_key', 'position', 'xpath', 'kind', 'content'],
            orderName: `${sideTableNames.unmapped} ${name}`,
          },
          range,
          unmappedRow,
        );
      },
    };
  }

  async close(): Promise<void> {
    await this.#closeStreams();
    await this.#tables?.close();
    this.#tables = null;
  }

  #documents(): Known {
    const table = this.#tables!.table(sideTableNames.documents);
    if (table === null) throw new AppError('not_found', `${this.label}: no documents were loaded there.`);
    return table;
  }

  /**
   * Returns the names of the tables that have rows in a table beside the data. Each table is queried separately, and most have no rows
   * there.
   */
  #namesIn(table: Known, column: string): Promise<ReadonlySet<string>> {
    let names = this.#named.get(column);
    if (names === undefined) {
      names = this.#readNames(table, column);
      this.#named.set(column, names);
    }
    return names;
  }

  async #readNames(table: Known, column: string): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    const blocks = await this.#guarded(() => this.#tables!.blocks(table, { rest: '' }, [column]));
    try {
      const stream = await this.#guarded(() => decodedRows(blocks, 1, ([name]) => name!));
      for (let name = stream.head; name !== null; name = stream.head) {
        names.add(name);
        const wait = stream.advance();
        if (wait !== undefined) await this.#guarded(() => wait);
      }
    } finally {
      await blocks.close();
    }
    return names;
  }

  /** Returns null if no document has such rows. */
  async #rowsBeside<Row>(
    query: BesideQuery,
    range: DocumentRange,
    toRow: (row: TextRow) => Row,
  ): Promise<RowStream<Row> | null> {
    const table = this.#tables!.table(query.in);
    if (table === null) return null;
    const { name, by, columns } = query;
    const held = await this.#bufferRows(table, query);
    if (held !== null) {
      const documentOf = textsOf(1);
      const rows = held.get(name)?.filter((row) => isWithin(documentOf(row)!, range));
      if (rows === undefined) return null;
      const order = by.map((column) => columns.indexOf(column) + 2);
      const asked = columns.map((_, at) => at + 2);
      return listedRows(inOrderOf(rows, order), asked, toRow);
    }
    if (!(await this.#namesIn(table, query.nameColumn)).has(name)) return null;
    const { from, documentKey } = range;
    const blocks = await this.#blocks(
      table,
      {
        rest: ` WHERE ${table.holds(query.nameColumn, name)} AND ${table.whole('document_key')!} ${from} ${documentKey}`,
        order: { name: query.orderName, by: by.map((column) => table.whole(column)!) },
      },
      columns,
    );
    return decodedRows(blocks, columns.length, toRow);
  }

  /** Buffers all rows, each with the name of its table and the key of its document before its columns. */
  #bufferRows(table: Known, { in: beside, nameColumn, columns }: BesideQuery): Promise<HeldRows | null> {
    let held = this.#held.get(beside);
    if (held === undefined) {
      const asked = [nameColumn, 'document_key', ...columns];
      held = this.#guarded(async () => {
        const blocks = (await this.#tables!.fewRows?.(table, asked)) ?? null;
        return blocks === null ? null : bufferRows(blocks, asked.length);
      });
      this.#held.set(beside, held);
    }
    return held;
  }

  /** Opens blocks that are closed with the source, and whose errors name the target. */
  async #blocks(table: Known, query: RowQuery, columns: readonly string[]): Promise<RowBlocks> {
    const blocks = await this.#guarded(() => this.#tables!.blocks(table, query, columns));
    this.#streams.push(blocks);
    return {
      next: () => this.#guarded(() => blocks.next()),
      giveBack: (block) => blocks.giveBack?.(block),
    };
  }

  async #closeStreams(): Promise<void> {
    for (const stream of this.#streams.splice(0)) await stream.close();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#options.faultOf(error);
    }
  }
}

function isWithin(document: string, { from, documentKey }: DocumentRange): boolean {
  return from === '=' ? document === documentKey : BigInt(document) >= BigInt(documentKey);
}

function columnOf(table: Table, role: 'row_key' | 'document'): string {
  return table.columns.find((column) => column.role === role)!.name;
}

/** Parses a row of `_lexical` from its columns `row_key`, `column_name` and `content`. */
export function lexicalRow([rowKey, columnName, content]: TextRow): LexicalRow {
  return { rowKey: rowKey!, columnName: columnName!, content: content ?? '' };
}

/** Parses a row of `_unmapped` from its columns `parent_key`, `position`, `xpath`, `kind` and `content`. */
export function unmappedRow([parentKey, position, xpath, kind, content]: TextRow): UnmappedRow {
  return {
    parentKey: parentKey!,
    position: Number(position),
    xpath: xpath ?? '',
    kind: kind ?? '',
    content: content ?? null,
  };
}
