/**
 * Rows out of a DuckDB file or a folder of tables, for writing documents back: DuckDB sorts each table by its row keys, which is
 * document order, and gives it piece by piece; what does not fit into memory waits on the disk.
 */
import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api';
import { hasOtherKeys, otherKeysMessage } from '../../engine/model/key-columns.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { RelationalModel, Table } from '../../engine/model/relational-model.ts';
import type { DocumentRows, RowStream, RowValues } from '../../engine/unshred/document-rows.ts';
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
  /** expressions of text that `values` makes a row of */
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
        if (table !== null && hasOtherKeys(known.columns, (name) => table.whole(name) !== null))
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
    const stream = await this.#stream(table, ` ORDER BY ${key}`, (valueOf) => ({
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

  async rowsFrom(documentKey: string | null): Promise<DocumentRows> {
    this.#closeStreams();
    const { tables } = this.#model;
    const first = documentKey === null ? null : await this.#guarded(() => this.#firstKeys(documentKey));
    const kept = <Row>(stream: ResultStream<Row>): RowStream<Row> | null => {
      this.#streams.push(stream as ResultStream<unknown>);
      return stream.head === null ? null : stream;
    };
    return {
      table: async (index) => {
        const table = this.#tables!.table(tables[index]!.name);
        const from = first?.get(index);
        if (table === null || (first !== null && from === undefined)) return null;
        const key = table.whole(keyColumn(tables[index]!))!;
        const names = tables[index]!.columns.map((column) => column.name);
        const filter = from === undefined ? '' : ` WHERE ${key} >= ${from}`;
        return kept(
          await this.#stream(table, `${filter} ORDER BY ${key}`, (valueOf): RowValues => names.map(valueOf)),
        );
      },
      lexical: async (index) => {
        const table = this.#tables!.table(sideTableNames.lexical);
        if (table === null) return null;
        const [key, document] = [table.whole('row_key')!, table.whole('document_key')!];
        const stream = await this.#stream(
          table,
          ` WHERE ${table.holds('table_name', tables[index]!.name)} AND ${document} >= ${documentKey ?? 0} ORDER BY ${key}`,
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
        const stream = await this.#stream(
          table,
          ` WHERE ${table.holds('parent_table', name)} AND ${document} >= ${documentKey ?? 0} ORDER BY ${key}, ${table.whole('position')}`,
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
          const key = table.whole(keyColumn(this.#model.tables[index]!))!;
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
    rest: string,
    toRow: (valueOf: (column: string) => string | null) => Row,
  ): Promise<ResultStream<Row>> {
    return this.#guarded(async () => {
      const connection = await this.#tables!.connect();
      const query = `SELECT ${table.selection.join(', ')} FROM ${table.from}${rest}`;
      const result = await connection.stream(query);
      const stream = new ResultStream(connection, result, (row) => toRow(table.values(row)));
      await stream.advance();
      return stream;
    });
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

class ResultStream<Row> implements RowStream<Row> {
  head: Row | null = null;
  readonly #connection: DuckDBConnection;
  readonly #result: DuckDBResult;
  readonly #toRow: (row: readonly (string | null)[]) => Row;
  #rows: (string | null)[][] = [];
  #next = 0;
  #isOpen = true;

  constructor(
    connection: DuckDBConnection,
    result: DuckDBResult,
    toRow: (row: readonly (string | null)[]) => Row,
  ) {
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
    this.#rows = chunk.getRows() as (string | null)[][];
    this.#next = 0;
    await this.advance();
  }
}

function keyColumn(table: Table): string {
  return table.columns.find((column) => column.role === 'row_key')!.name;
}
