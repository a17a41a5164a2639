/** A query's rows in blocks: a cursor of the server, fetched from a piece at a time. */
import type { RowBlock, RowBlocks } from '../../../../engine/unshred/rows/document-rows.ts';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';
import type { RowTap } from '../../../../adapters/postgres/client/row-tap.ts';
import { asMoment, type SentText } from '../connection/types.ts';

const firstFetch = 64;
const mostRows = 8192;
/** bytes that a fetch is meant to bring; less where there are many cursors, which have two such pieces each */
const wantedBytes = 512 * 1024;
const bytesOfAll = 48 * 1024 * 1024;

/** Asks the server, and tells its faults in the words of the service. */
export type Ask = <T>(work: () => Promise<T>) => Promise<T>;

export interface CursorSession {
  readonly sql: Sql;
  readonly ask: Ask;
  readonly rows: RowTap;
  /** how many cursors have been opened */
  readonly opened: () => number;
}

export interface Cursor extends RowBlocks {
  /** The server has it no more; whoever asks for rows is told that there are none. */
  forget(): void;
}

/** What is left to be done to the text of each column of a query. */
export type ColumnMoments = readonly SentText['moment'][];

/** The rows of a query, as they are sent in the text format. Within a transaction. */
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
      this.#count = Math.max(1, Math.min(mostRows, asked * 8, fitting));
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

/** Messages DataRow (PostgreSQL manual §54.7), at most `most`, as they came. RangeError where they are none. */
function messagesBlock(bytes: Uint8Array, most: number, columns: number): RowBlock {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cells = new Int32Array(most * columns * 2);
  let rows = 0;
  let cell = 0;
  for (let at = 0; at < bytes.length; rows += 1) {
    const end = at + 1 + view.getInt32(at + 1);
    if (rows === most || view.getInt16(at + 5) !== columns) throw new RangeError('other rows were asked for');
    at += 7;
    for (let column = 0; column < columns; column += 1, cell += 2) {
      const length = view.getInt32(at);
      at += 4;
      cells[cell] = length < 0 ? -1 : at;
      at += Math.max(length, 0);
      cells[cell + 1] = at;
    }
    if (at !== end) throw new RangeError('a row has another length than its values');
  }
  return { bytes, cells: rows === most ? cells : cells.slice(0, cell), rows };
}
