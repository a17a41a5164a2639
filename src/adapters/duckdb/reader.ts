/**
 * Rows out of a DuckDB file or a folder of tables, for writing documents back, in the order of their row keys, which is document order.
 * Most tables lie in that order, as one look at their keys tells, and are read as they lie; only another one is sorted by DuckDB, what does
 * not fit into memory on the disk.
 */
import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import { everyRowNamesDocument, hasOtherKeys, otherKeysMessage } from '../../engine/model/key-columns.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { RelationalModel, Table } from '../../engine/model/relational-model.ts';
import type {
  DocumentRows,
  LexicalRow,
  RowStream,
  RowValues,
  UnmappedRow,
} from '../../engine/unshred/document-rows.ts';
import { AppError } from '../../errors.ts';
import type { RowSource, StoredDocument } from '../../ports/rows/source.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import { fileFault } from '../file-staging/faults.ts';

/** A table as the file or folder has it; columns by the model's names. */
export interface SourceTable {
  /** what stands behind FROM */
  readonly from: string;
  /** a key or position as a BIGINT; null where the table has no such column */
  whole(column: string): string | null;
  /** a condition: the column holds that text */
  holds(column: string, text: string): string;
  /** expressions of text that `values` makes a row of; more than one, where no value has U+001E or U+001F */
  readonly selection: readonly string[];
  /** the row's values by name: the lexical forms of XSD, NULL for a column that is not there */
  values(row: readonly (string | null)[]): (column: string) => string | null;
}

/** The tables of one place, open for reading. */
export interface SourceTables {
  /** null where there is none of that name */
  table(name: string): SourceTable | null;
  /** each stream needs a connection of its own */
  connect(): Promise<DuckDBConnection>;
  /** logical schema of a job, where its number stands for one job alone */
  logicalSchemaOf(job: number): Promise<number | null>;
  close(): Promise<void>;
}

export interface FileRowSourceOptions {
  readonly label: string;
  /** AppError `not_found` where there is nothing */
  readonly openTables: (model: RelationalModel) => Promise<SourceTables>;
  readonly loads: () => Promise<readonly TargetLoad[]>;
}

export function createFileRowSource(options: FileRowSourceOptions): RowSource {
  return new FileRowSource(options);
}

class FileRowSource implements RowSource {
  readonly label: string;
  readonly #options: FileRowSourceOptions;
  #model!: RelationalModel;
  #tables: SourceTables | null = null;
  #streams: ResultStream<unknown>[] = [];
  /** by what is read: whether the rows that were asked for last lie in order; `rest`: which of them those are */
  readonly #ordered = new Map<string, { readonly rest: string; readonly lies: boolean }>();

  constructor(options: FileRowSourceOptions) {
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
      for (const known of model.tables) {
        const table = this.#tables.table(known.name);
        if (table !== null && hasOtherKeys(model, known.columns, (name) => table.whole(name) !== null))
          throw new AppError('conflict', otherKeysMessage(this.label, known.name));
      }
    });
  }

  async documentCount(name?: string): Promise<number> {
    let count = 0;
    for await (const document of this.documents(name)) if (document.key !== '') count += 1;
    return count;
  }

  async *documents(name?: string): AsyncIterable<StoredDocument> {
    const table = this.#documents();
    const key = table.whole('document_key')!;
    const stream = await this.#stream(table, { rest: ` ORDER BY ${key}` }, (valueOf) => ({
      key: valueOf('document_key')!,
      name: valueOf('name'),
      job: Number(valueOf('job')),
    }));
    try {
      while (stream.head !== null) {
        const { key: documentKey, name: documentName, job } = stream.head;
        await stream.advance();
        if (name !== undefined && documentName !== name) continue;
        const idLschma = await this.#tables!.logicalSchemaOf(job);
        yield { key: documentKey, name: documentName, idLschma };
      }
    } finally {
      stream.close();
    }
  }

  rowsOf(documentKey: string): Promise<DocumentRows> {
    return this.#rows(documentKey, everyRowNamesDocument(this.#model) ? '=' : '>=');
  }

  rowsFrom(documentKey: string | null): Promise<DocumentRows> {
    return this.#rows(documentKey, '>=');
  }

  async #rows(documentKey: string | null, from: '=' | '>='): Promise<DocumentRows> {
    this.#closeStreams();
    const { tables } = this.#model;
    const isTold = everyRowNamesDocument(this.#model);
    const first =
      documentKey === null || isTold ? null : await this.#guarded(() => this.#firstKeys(documentKey));
    const ofDocument = (table: SourceTable, column: string): string =>
      documentKey === null ? '' : ` WHERE ${table.whole(column)!} ${from} ${documentKey}`;
    const kept = <Row>(stream: ResultStream<Row>): RowStream<Row> | null => {
      this.#streams.push(stream as ResultStream<unknown>);
      return stream.head === null ? null : stream;
    };
    return {
      table: async (index) => {
        const table = this.#tables!.table(tables[index]!.name);
        const since = first?.get(index);
        if (table === null || (first !== null && since === undefined)) return null;
        const key = table.whole(columnOf(tables[index]!, 'row_key'))!;
        const columns = tables[index]!.columns.map((column) => column.name);
        const rest = isTold
          ? ofDocument(table, columnOf(tables[index]!, 'document'))
          : since === undefined
            ? ''
            : ` WHERE ${key} >= ${since}`;
        const order = { name: tables[index]!.name, by: [key] };
        return kept(await this.#stream(table, { rest, order }, (valueOf): RowValues => columns.map(valueOf)));
      },
      lexical: async (index) => {
        const table = this.#tables!.table(sideTableNames.lexical);
        if (table === null) return null;
        const [key, document] = [table.whole('row_key')!, table.whole('document_key')!];
        const stream = await this.#stream<LexicalRow>(
          table,
          {
            rest: ` WHERE ${table.holds('table_name', tables[index]!.name)} AND ${document} ${from} ${documentKey ?? 0}`,
            order: { name: `${sideTableNames.lexical} ${index}`, by: [key] },
          },
          (valueOf) => ({
            rowKey: valueOf('row_key')!,
            columnName: valueOf('column_name')!,
            content: valueOf('content') ?? '',
          }),
        );
        return kept(stream);
      },
      unmapped: async (index) => {
        const table = this.#tables!.table(sideTableNames.unmapped);
        if (table === null) return null;
        const name = index === null ? sideTableNames.documents : tables[index]!.name;
        const [key, document] = [table.whole('parent_key')!, table.whole('document_key')!];
        const stream = await this.#stream<UnmappedRow>(
          table,
          {
            rest: ` WHERE ${table.holds('parent_table', name)} AND ${document} ${from} ${documentKey ?? 0}`,
            order: {
              name: `${sideTableNames.unmapped} ${name}`,
              by: [key, table.whole('position')!],
            },
          },
          (valueOf) => ({
            parentKey: valueOf('parent_key')!,
            position: Number(valueOf('position')),
            xpath: valueOf('xpath') ?? '',
            kind: valueOf('kind') ?? '',
            content: valueOf('content'),
          }),
        );
        return kept(stream);
      },
    };
  }

  async close(): Promise<void> {
    this.#closeStreams();
    await this.#tables?.close();
    this.#tables = null;
  }

  #documents(): SourceTable {
    const table = this.#tables!.table(sideTableNames.documents);
    if (table === null) throw new AppError('not_found', `${this.label}: no documents were loaded there.`);
    return table;
  }

  /** Where the rows of a document begin in each table: a child comes after its parent. */
  async #firstKeys(documentKey: string): Promise<ReadonlyMap<number, bigint>> {
    const first = new Map<number, bigint>();
    const connection = await this.#tables!.connect();
    try {
      for (let changed = true; changed;) {
        changed = false;
        for (const [index, { name, columns }] of this.#model.tables.entries()) {
          const table = this.#tables!.table(name);
          if (table === null) continue;
          const conditions = columns.flatMap(({ name: column, role, references }) => {
            const since =
              role === 'document'
                ? documentKey
                : role === 'parent_key' && references !== null
                  ? first.get(references)
                  : undefined;
            const expression = table.whole(column);
            return since === undefined || expression === null ? [] : [`${expression} >= ${since}`];
          });
          if (conditions.length === 0) continue;
          const key = table.whole(columnOf(this.#model.tables[index]!, 'row_key'))!;
          const result = await connection.runAndReadAll(
            `SELECT min(${key})::VARCHAR FROM ${table.from} WHERE ${conditions.join(' OR ')}`,
          );
          const least = result.getRows()[0]![0] as string | null;
          const known = first.get(index);
          if (least === null || (known !== undefined && known <= BigInt(least))) continue;
          first.set(index, BigInt(least));
          changed = true;
        }
      }
    } finally {
      connection.closeSync();
    }
    return first;
  }

  async #stream<Row>(
    table: SourceTable,
    { rest, order }: { readonly rest: string; readonly order?: RowOrder },
    toRow: (valueOf: (column: string) => string | null) => Row,
  ): Promise<ResultStream<Row>> {
    return this.#guarded(async () => {
      const connection = await this.#tables!.connect();
      const sorting =
        order === undefined || (await this.#liesInOrder(connection, table, rest, order))
          ? ''
          : ` ORDER BY ${order.by.join(', ')}`;
      const query = `SELECT ${oneText(table.selection)} FROM ${table.from}${rest}${sorting}`;
      const result = await connection.stream(query);
      const stream = new ResultStream(connection, result, (text) =>
        toRow(table.values(this.#fieldsOf(text, table.selection.length))),
      );
      await stream.advance();
      return stream;
    });
  }

  /** What `oneText` made one. */
  #fieldsOf(text: string | null, count: number): readonly (string | null)[] {
    if (count === 1) return [text];
    const fields: (string | null)[] = text!.split(fieldEnd);
    if (fields.length !== count)
      throw new AppError(
        'unprocessable_input',
        `${this.label}: a value has a control character (U+001F), which no document can hold`,
      );
    for (let at = 0; at < count; at += 1) if (fields[at] === noValue) fields[at] = null;
    return fields;
  }

  /** One pass over the keys alone, in no more memory than a piece of them takes. */
  async #liesInOrder(
    connection: DuckDBConnection,
    { from }: SourceTable,
    rest: string,
    { name, by }: RowOrder,
  ): Promise<boolean> {
    const known = this.#ordered.get(name);
    // what lies in order as a whole does so in part
    if (known !== undefined && (known.rest === rest || (known.rest === '' && known.lies))) return known.lies;
    const keys = by.map((key, at) => `${key} AS k${at}`);
    const lasts = by.map((_, at) => `lag(k${at}) OVER () AS l${at}`);
    const before = by.map((_, at) =>
      [...by.slice(0, at).map((__, earlier) => `k${earlier} = l${earlier}`), `k${at} < l${at}`].join(' AND '),
    );
    const result = await connection.runAndReadAll(
      `SELECT 1 FROM (SELECT *, ${lasts.join(', ')} FROM (SELECT ${keys.join(', ')} FROM ${from}${rest})) WHERE (${before.join(') OR (')}) LIMIT 1`,
    );
    const lies = result.currentRowCount === 0;
    this.#ordered.set(name, { rest, lies });
    return lies;
  }

  #closeStreams(): void {
    for (const stream of this.#streams.splice(0)) stream.close();
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw fileFault(error, this.label, 'read');
    }
  }
}

/** Characters that no value of a document has (XML 1.0 §2.2). */
const fieldEnd = '\u001f';
const noValue = '\u001e';

/** A row as one text: taking one value from DuckDB costs as much as the whole row does. */
function oneText(selection: readonly string[]): string {
  if (selection.length === 1) return selection[0]!;
  return `concat_ws(chr(31), ${selection.map((value) => `COALESCE(${value}, chr(30))`).join(', ')})`;
}

/** The order that rows are to be given in. */
interface RowOrder {
  /** of the table, and what of it is read */
  readonly name: string;
  /** behind ORDER BY */
  readonly by: readonly string[];
}

class ResultStream<Row> implements RowStream<Row> {
  head: Row | null = null;
  readonly #connection: DuckDBConnection;
  readonly #result: DuckDBResult;
  readonly #toRow: (text: string | null) => Row;
  #rows: (string | null)[] = [];
  #next = 0;
  #isOpen = true;

  constructor(connection: DuckDBConnection, result: DuckDBResult, toRow: (text: string | null) => Row) {
    this.#connection = connection;
    this.#result = result;
    this.#toRow = toRow;
  }

  advance(): Promise<void> | undefined {
    if (this.#next < this.#rows.length) {
      this.head = this.#toRow(this.#rows[this.#next++]!);
      return undefined;
    }
    this.head = null;
    return this.#isOpen ? this.#fetch() : undefined;
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#connection.closeSync();
  }

  async #fetch(): Promise<void> {
    const chunk = await this.#result.fetchChunk();
    if (chunk === null || chunk.rowCount === 0) {
      this.close();
      return;
    }
    this.#rows = chunk.getColumnValues(0) as (string | null)[];
    this.#next = 0;
    await this.advance();
  }
}

function columnOf(table: Table, role: 'row_key' | 'document'): string {
  return table.columns.find((column) => column.role === role)!.name;
}
