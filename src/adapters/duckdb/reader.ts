/**
 * Rows out of a DuckDB file or a folder of tables, for writing documents back, in the order of their row keys, which is document order.
 * Most tables lie in that order, as one look at their keys tells, and are read as they lie; only another one is sorted by DuckDB, what does
 * not fit into memory on the disk.
 */
import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import type { RowSource } from '../../ports/rows/source.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import { fileFault } from '../file-staging/faults.ts';
import {
  createTableRowSource,
  type ClosableRows,
  type ReadTable,
  type ReadTables,
  type RowOrder,
  type RowQuery,
} from '../row-sinks/table-row-source.ts';

/** Keys and positions are BIGINTs. */
export interface SourceTable extends ReadTable {
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

export function createFileRowSource({ label, openTables, loads }: FileRowSourceOptions): RowSource {
  return createTableRowSource({
    label,
    loads,
    openTables: async (model) => new FileTables(label, await openTables(model)),
    faultOf: (error) => fileFault(error, label, 'read'),
  });
}

class FileTables implements ReadTables<SourceTable> {
  readonly #label: string;
  readonly #tables: SourceTables;
  /** by what is read: whether the rows that were asked for last lie in order; `rest`: which of them those are */
  readonly #ordered = new Map<string, { readonly rest: string; readonly lies: boolean }>();

  constructor(label: string, tables: SourceTables) {
    this.#label = label;
    this.#tables = tables;
  }

  table(name: string): SourceTable | null {
    return this.#tables.table(name);
  }

  logicalSchemaOf(job: number): Promise<number | null> {
    return this.#tables.logicalSchemaOf(job);
  }

  close(): Promise<void> {
    return this.#tables.close();
  }

  async least({ from }: SourceTable, expression: string, condition: string): Promise<string | null> {
    const connection = await this.#tables.connect();
    try {
      const result = await connection.runAndReadAll(
        `SELECT min(${expression})::VARCHAR FROM ${from} WHERE ${condition}`,
      );
      return result.getRows()[0]![0] as string | null;
    } finally {
      connection.closeSync();
    }
  }

  async rows<Row>(
    table: SourceTable,
    { rest, order }: RowQuery,
    toRow: (valueOf: (column: string) => string | null) => Row,
  ): Promise<ClosableRows<Row>> {
    const connection = await this.#tables.connect();
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
  }

  /** What `oneText` made one. */
  #fieldsOf(text: string | null, count: number): readonly (string | null)[] {
    if (count === 1) return [text];
    const fields: (string | null)[] = text!.split(fieldEnd);
    if (fields.length !== count)
      throw new AppError(
        'unprocessable_input',
        `${this.#label}: a value has a control character (U+001F), which no document can hold`,
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
}

/** Characters that no value of a document has (XML 1.0 §2.2). */
const fieldEnd = '\u001f';
const noValue = '\u001e';

/** A row as one text: taking one value from DuckDB costs as much as the whole row does. */
function oneText(selection: readonly string[]): string {
  if (selection.length === 1) return selection[0]!;
  return `concat_ws(chr(31), ${selection.map((value) => `COALESCE(${value}, chr(30))`).join(', ')})`;
}

class ResultStream<Row> implements ClosableRows<Row> {
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
