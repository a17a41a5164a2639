/**
 * Reads rows from PostgreSQL to write documents back: one snapshot, one cursor per table in the order of the row keys, which is document
 * order. No index on parent keys is needed, and only the next rows of each table are in memory.
 */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import {
  fractionDigits,
  physicalNames,
  type PhysicalTableNames,
} from '../../../engine/sql/physical-model.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { versionCondition, type DocumentVersions } from '../../../engine/sql/loaded-documents.ts';
import type {
  DocumentRows,
  RowStream,
  RowBlock,
  RowBlocks,
} from '../../../engine/unshred/rows/document-rows.ts';
import { decodedRows, type TextRow } from '../../../engine/unshred/rows/values.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource, StoredDocument } from '../../../ports/row-source.ts';
import type { TargetLoad } from '../../../ports/row-sink.ts';
import { sqlState, type Sql } from '../../../postgres/connect.ts';
import { createRowTap, type RowTap } from '../../../postgres/row-tap.ts';
import { askTargetLoads, namesIn } from './driver.ts';
import {
  addressLabel,
  connectTarget,
  beginSession,
  watchPostgres,
  targetFault,
  type TargetAddress,
} from './connection.ts';
import { lexicalRow, unmappedRow } from '../../rows/table-row-source.ts';
import { refusePreRelease } from '../../rows/pre-release.ts';
import { checkKeys } from '../found-tables.ts';
import { readTarget, type ExistingTarget } from './existing-tables.ts';
import { sentText, asMoment, type SentText } from './tables.ts';
import type { SilenceWatch } from '../database.ts';

interface PostgresRowSourceOptions extends TargetAddress {
  readonly sqlSchema: string;
  /** shown in messages instead of the address */
  readonly label?: string;
  /** time between two probes whether the target's answers were lost in transit (10 s) */
  readonly probeIntervalMs?: number;
}

export function createPostgresRowSource(options: PostgresRowSourceOptions): RowSource {
  return new PostgresRowSource(options);
}

class PostgresRowSource implements RowSource {
  readonly label: string;
  readonly #options: PostgresRowSourceOptions;
  #model!: RelationalModel;
  #names: readonly PhysicalTableNames[] = [];
  #sql: Sql | null = null;
  #target!: ExistingTarget;
  #opened = 0;
  #cursors: Cursor[] = [];
  readonly #tap = createRowTap();
  /** settles when the last query has been answered */
  #last: Promise<unknown> = Promise.resolve();
  readonly #backends: number[] = [];
  readonly #watch: SilenceWatch;
  /** Runs one query at a time: the rows of an answer are taken directly from the connection. */
  readonly #ask: Ask = (work) => {
    const answer = this.#guarded(() => this.#last.then(work));
    // the caller gets the error
    this.#last = answer.catch(() => undefined);
    return answer;
  };
  /** names of tables that have entries in the side tables */
  #withLexical: ReadonlySet<string> = new Set();
  #withUnmapped: ReadonlySet<string> = new Set();

  constructor(options: PostgresRowSourceOptions) {
    this.#options = options;
    this.#watch = watchPostgres({
      address: options,
      backends: () => this.#backends,
      everyMs: options.probeIntervalMs,
    });
    this.label = options.label ?? `${addressLabel(options.url)}?schema=${options.sqlSchema}`;
  }

  loads(): Promise<readonly TargetLoad[]> {
    return askTargetLoads({ ...this.#options, label: this.label });
  }

  async open(model: RelationalModel): Promise<void> {
    this.#model = model;
    this.#names = physicalNames(model, postgresql);
    await this.#guarded(async () => {
      const sql = connectTarget(this.#options, { all: this.#watch.sockets, rows: this.#tap });
      this.#sql = sql;
      // floating-point numbers in the shortest form that gives the same number back
      this.#backends.push(await beginSession(sql, this.#options, 'SET extra_float_digits = 1'));
      await sql.unsafe('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { documents, lexical, unmapped, loads } = sideTableNames;
      const names = [...this.#names.map((table) => table.name), documents, lexical, unmapped, loads];
      this.#target = await readTarget(sql, this.#options.sqlSchema, names);
      if (!this.#target.tables.has(documents)) {
        throw new AppError('not_found', `${this.label}: no documents were loaded there.`);
      }
      const known = this.#target.tables;
      refusePreRelease(this.label, (name) => known.get(name)?.columns);
      checkKeys(namesIn(this.#options.sqlSchema), this.label, known, { model, tables: this.#names });
      this.#withLexical = await this.#distinct(lexical, 'table_name');
      this.#withUnmapped = await this.#distinct(unmapped, 'parent_table');
    });
  }

  async documentCount(name?: string, versions?: DocumentVersions): Promise<number> {
    return this.#guarded(async () => {
      const [row] = await this.#sql!.unsafe<[{ count: number | string }]>(
        `SELECT count(*) ${this.#fromDocuments(name, versions)}`,
      );
      return Number(row.count);
    });
  }

  #fromDocuments(name: string | undefined, versions: DocumentVersions | undefined): string {
    const { documents } = sideTableNames;
    const isMerged = this.#target.tables.get(documents)!.columns.has('valid_to');
    const version = versionCondition(
      versions,
      isMerged,
      't.',
      (moment) => `${standardLiteral(moment)}::timestamptz`,
    );
    const conditions = [
      ...(name === undefined ? [] : [`t.name = ${standardLiteral(name)}`]),
      version ?? 'true',
    ];
    return `FROM ${this.#relation(documents)} t WHERE ${conditions.join(' AND ')}`;
  }

  async *documents(name?: string, versions?: DocumentVersions): AsyncIterable<StoredDocument> {
    const { loads } = sideTableNames;
    const modelHash = this.#target.tables.has(loads)
      ? `(SELECT l.model_sha256 FROM ${this.#relation(loads)} l WHERE l.job_uuid = t.job_uuid)`
      : 'NULL::text';
    const query = `SELECT t.document_key::text, t.name, ${modelHash} ${this.#fromDocuments(name, versions)} ORDER BY t.document_key`;
    const cursor = await openCursor(this.#session(), 'documents', query, textColumns(3));
    const stream = await decodedRows(cursor, 3, ([key, documentName, modelHash]) => ({
      key: key!,
      name: documentName!,
      modelHash: modelHash ?? null,
    }));
    for (let document = stream.head; document !== null; document = stream.head) {
      await stream.advance();
      yield document;
    }
  }

  rowsOf(documentKey: string): Promise<DocumentRows> {
    return this.#rows(documentKey, '=');
  }

  rowsFrom(documentKey: string | null): Promise<DocumentRows> {
    return this.#rows(documentKey, '>=');
  }

  async #rows(documentKey: string | null, from: '=' | '>='): Promise<DocumentRows> {
    await this.#closeCursors();
    const since = documentKey === null ? '' : ` AND document_key ${from} ${BigInt(documentKey)}`;
    return {
      table: async (index) => {
        if (!this.#exists(index)) return null;
        const key = this.#column(index, 'row_key');
        let filter = '';
        if (documentKey !== null) {
          const found = await this.#filterOf(index, `${from} ${BigInt(documentKey)}`);
          if (found === null) return null;
          filter = ` WHERE ${found}`;
        }
        const columns = this.#sentColumns(index);
        const selection = columns.map(({ expression }) => expression).join(', ');
        const query = `SELECT ${selection} FROM ${this.#relationOf(index)} t${filter} ORDER BY t.${key}`;
        return this.#cursor(
          query,
          columns.map(({ moment }) => moment),
        );
      },
      lexical: async (index) => {
        const { name } = this.#model.tables[index]!;
        if (!this.#withLexical.has(name)) return null;
        const query = `SELECT t.row_key::text, t.column_name, t.content FROM ${this.#relation(sideTableNames.lexical)} t
            WHERE t.table_name = ${standardLiteral(name)}${since} ORDER BY t.row_key`;
        return this.#rowsBeside(query, 3, lexicalRow);
      },
      unmapped: async (index) => {
        const name = index === null ? sideTableNames.documents : this.#model.tables[index]!.name;
        if (!this.#withUnmapped.has(name)) return null;
        const query = `SELECT t.parent_key::text, t.position::text, t.xpath, t.kind, t.content FROM ${this.#relation(sideTableNames.unmapped)} t
            WHERE t.parent_table = ${standardLiteral(name)}${since} ORDER BY t.parent_key, t.position`;
        return this.#rowsBeside(query, 5, unmappedRow);
      },
    };
  }

  async close(): Promise<void> {
    await this.#sql?.end({ timeout: 5 });
    this.#sql = null;
  }

  #session(): CursorSession {
    return { sql: this.#sql!, ask: this.#ask, rows: this.#tap, opened: () => this.#cursors.length + 1 };
  }

  async #cursor(query: string, moments: ColumnMoments): Promise<Cursor> {
    this.#opened += 1;
    const cursor = await openCursor(this.#session(), `rows_${this.#opened}`, query, moments);
    this.#cursors.push(cursor);
    return cursor;
  }

  async #rowsBeside<Row>(
    query: string,
    columns: number,
    toRow: (row: TextRow) => Row,
  ): Promise<RowStream<Row>> {
    return decodedRows(await this.#cursor(query, textColumns(columns)), columns, toRow);
  }

  async #closeCursors(): Promise<void> {
    for (const cursor of this.#cursors.splice(0)) cursor.forget();
    await this.#ask(async () => {
      const open = await this.#sql!.unsafe<{ name: string }[]>(
        "SELECT quote_ident(name) AS name FROM pg_cursors WHERE name LIKE 'rows\\_%'",
      );
      if (open.length > 0) await this.#sql!.unsafe(open.map(({ name }) => `CLOSE ${name}`).join('; '));
    });
  }

  /**
   * Returns a condition for the rows whose document's key matches, which are found and read in the order of their own keys; null if there
   * are none.
   */
  async #filterOf(index: number, isSo: string): Promise<string | null> {
    const key = `t.${this.#column(index, 'row_key')}`;
    const isOf = `t.${this.#column(index, 'document')} ${isSo}`;
    // for a plain min() the server would scan the keys from the first
    const [range] = await this.#ask(() =>
      this.#sql!.unsafe<[{ least: string | null; most: string | null }]>(
        `SELECT min(${key} + 0)::text AS least, max(${key} + 0)::text AS most FROM ${this.#relationOf(index)} t WHERE ${isOf}`,
      ),
    );
    return range.least === null ? null : `${key} BETWEEN ${range.least} AND ${range.most} AND ${isOf}`;
  }

  /** Returns the quoted name. */
  #column(index: number, role: 'row_key' | 'document'): string {
    const at = this.#model.tables[index]!.columns.findIndex((column) => column.role === role);
    return doubleQuoted(this.#names[index]!.columns[at]!);
  }

  #relation(name: string): string {
    return `${doubleQuoted(this.#options.sqlSchema)}.${doubleQuoted(name)}`;
  }

  #relationOf(index: number): string {
    return this.#relation(this.#names[index]!.name);
  }

  #exists(index: number): boolean {
    return this.#target.tables.has(this.#names[index]!.name);
  }

  /** Returns every column of the model, as text in the forms of XSD; a column that the table does not have is empty. */
  #sentColumns(index: number): SentText[] {
    const { name, columns } = this.#names[index]!;
    const known = this.#target.tables.get(name)!.columns;
    return columns.map((column, at) => {
      const type = known.get(column)?.type;
      const fraction = fractionDigits(this.#model.tables[index]!.columns[at]?.type);
      return type === undefined
        ? { expression: 'NULL::text', moment: null }
        : sentText(`t.${doubleQuoted(column)}`, type, fraction);
    });
  }

  async #distinct(sideTable: string, column: string): Promise<Set<string>> {
    if (!this.#target.tables.has(sideTable)) return new Set();
    const rows = await this.#sql!.unsafe<{ name: string | null }[]>(
      `SELECT DISTINCT ${column} AS name FROM ${this.#relation(sideTable)}`,
    );
    return new Set(rows.map(({ name }) => name ?? ''));
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await this.#watch.during(work);
    } catch (error) {
      // The driver has opened another connection, which knows neither the snapshot nor its cursors
      if (['25P01', '34000'].includes(sqlState(error) ?? ''))
        throw new AppError(
          'service_unavailable',
          `${this.label}: the connection was lost while rows were read.`,
        );
      throw targetFault(error, this.label);
    }
  }
}

function textColumns(count: number): ColumnMoments {
  return Array.from({ length: count }, () => null);
}

const firstFetch = 64;
const maxRows = 8192;
/** the intended size of a fetch in bytes; less if there are many cursors, because each holds two fetches */
const wantedBytes = 512 * 1024;
const bytesOfAll = 48 * 1024 * 1024;

/** Queries the server, and converts its faults to those of the service. */
export type Ask = <T>(work: () => Promise<T>) => Promise<T>;

interface CursorSession {
  readonly sql: Sql;
  readonly ask: Ask;
  readonly rows: RowTap;
  /** how many cursors have been opened */
  readonly opened: () => number;
}

export interface Cursor extends RowBlocks {
  /** Marks the cursor as closed by the server; `next` then returns null. */
  forget(): void;
}

/** The conversion that the text of each column of a query still needs. */
type ColumnMoments = readonly SentText['moment'][];

/**
 * Opens a cursor on the server, within a transaction, and returns the rows of a query in blocks, in the text format in which they are sent.
 * Each fetch reads one piece.
 */
export async function openCursor(
  session: CursorSession,
  name: string,
  query: string,
  moments: ColumnMoments,
): Promise<Cursor> {
  await session.ask(() => session.sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${query}`));
  return new FetchedBlocks(session, name, moments);
}

class FetchedBlocks implements Cursor {
  readonly #session: CursorSession;
  readonly #name: string;
  readonly #moments: ColumnMoments;
  #count = firstFetch;
  #atEnd = false;

  constructor(session: CursorSession, name: string, moments: ColumnMoments) {
    this.#session = session;
    this.#name = name;
    this.#moments = moments;
  }

  forget(): void {
    this.#atEnd = true;
  }

  next(): Promise<RowBlock | null> {
    return this.#session.ask(() => this.#fetch());
  }

  async #fetch(): Promise<RowBlock | null> {
    if (this.#atEnd) return null;
    const { sql, rows } = this.#session;
    const asked = this.#count;
    const block = messagesBlock(
      await rows.take(() => sql.unsafe(`FETCH ${asked} FROM ${this.#name}`)),
      asked,
      this.#moments.length,
    );
    writeMoments(block, this.#moments);
    if (block.rows < asked) {
      this.#atEnd = true;
      await sql.unsafe(`CLOSE ${this.#name}`);
    } else {
      const wanted = Math.min(wantedBytes, bytesOfAll / (2 * this.#session.opened()));
      const fitting = Math.floor((wanted * asked) / block.bytes.length);
      this.#count = Math.max(1, Math.min(maxRows, asked * 8, fitting));
    }
    return block.rows === 0 ? null : block;
  }
}

function writeMoments({ bytes, cells, rows }: RowBlock, moments: ColumnMoments): void {
  for (const [column, kind] of moments.entries()) {
    if (kind === null) continue;
    for (let row = 0, cell = column * 2; row < rows; row += 1, cell += moments.length * 2)
      if (cells[cell]! >= 0) cells[cell + 1] = asMoment(bytes, cells[cell]!, cells[cell + 1]!, kind);
  }
}

/** Reads DataRow messages (PostgreSQL manual §54.7), at most `most`, unchanged. Throws RangeError if the bytes are not such messages. */
function messagesBlock(bytes: Uint8Array, most: number, columns: number): RowBlock {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cells = new Int32Array(most * columns * 2);
  let rows = 0;
  let cell = 0;
  for (let at = 0; at < bytes.length; rows += 1) {
    const end = at + 1 + view.getInt32(at + 1);
    if (rows === most || view.getInt16(at + 5) !== columns)
      throw new RangeError('the rows are not the requested ones');
    at += 7;
    for (let column = 0; column < columns; column += 1, cell += 2) {
      const length = view.getInt32(at);
      at += 4;
      cells[cell] = length < 0 ? -1 : at;
      at += Math.max(length, 0);
      cells[cell + 1] = at;
    }
    if (at !== end) throw new RangeError('the length of a row differs from the length of its values');
  }
  return { bytes, cells: rows === most ? cells : cells.slice(0, cell), rows };
}
