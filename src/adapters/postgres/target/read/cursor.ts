/** A query's rows as a stream: a cursor of the server, fetched from a piece at a time. */
import type { RowStream } from '../../../../engine/unshred/document-rows.ts';
import type { Sql } from '../../client/connect.ts';

export type TextRow = readonly (string | null)[];

const firstFetch = 64;
const mostRows = 2048;
/** characters a fetch is meant to bring */
const wantedCharacters = 512 * 1024;

/** Asks the server, and tells its faults in the words of the service. */
export type Ask = <T>(work: () => Promise<T>) => Promise<T>;

/** The stream of a query whose columns are all text, standing at its first row; null where it has none. Within a transaction. */
export async function openCursor<Row>(
  sql: Sql,
  ask: Ask,
  name: string,
  query: string,
  toRow: (values: TextRow) => Row,
): Promise<RowStream<Row> | null> {
  await ask(() => sql.unsafe(`DECLARE ${name} NO SCROLL CURSOR FOR ${query}`));
  const stream = new CursorStream(sql, ask, name, toRow);
  await stream.fetch();
  return stream.head === null ? null : stream;
}

class CursorStream<Row> implements RowStream<Row> {
  head: Row | null = null;
  readonly #sql: Sql;
  readonly #ask: Ask;
  readonly #name: string;
  readonly #toRow: (values: TextRow) => Row;
  #rows: TextRow[] = [];
  #next = 0;
  #count = firstFetch;
  #atEnd = false;

  constructor(sql: Sql, ask: Ask, name: string, toRow: (values: TextRow) => Row) {
    this.#sql = sql;
    this.#ask = ask;
    this.#name = name;
    this.#toRow = toRow;
  }

  advance(): Promise<void> | undefined {
    const values = this.#rows[this.#next];
    if (values !== undefined) {
      this.#next += 1;
      this.head = this.#toRow(values);
      return undefined;
    }
    this.head = null;
    return this.#atEnd ? undefined : this.fetch();
  }

  /** Goes on with the next piece. */
  async fetch(): Promise<void> {
    const asked = this.#count;
    this.#rows = await this.#ask(() =>
      this.#sql.unsafe<Record<string, TextRow[number]>[]>(`FETCH ${asked} FROM ${this.#name}`).values(),
    );
    this.#next = 0;
    if (this.#rows.length < asked) {
      this.#atEnd = true;
      await this.#ask(() => this.#sql.unsafe(`CLOSE ${this.#name}`));
    } else {
      let characters = 1;
      for (const values of this.#rows) for (const value of values) characters += value?.length ?? 0;
      const fitting = Math.floor((wantedCharacters * asked) / characters);
      this.#count = Math.max(1, Math.min(mostRows, asked * 8, fitting));
    }
    await this.advance();
  }
}
