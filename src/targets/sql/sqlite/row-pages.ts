/**
 * Reads rows of a table in the order of its key, a page of many rows as one value: reading a value from SQLite costs as much as making the
 * text of a whole row there.
 */
import type { StatementSync } from 'node:sqlite';
import type { RowBlock } from '../../../engine/unshred/rows/document-rows.ts';
import { textBlock } from '../../../engine/unshred/rows/values.ts';
import { fieldRows, type FieldPlan } from '../../rows/field-blocks.ts';
import type { ClosableBlocks } from '../../rows/table-row-source.ts';
import { isTooLong, type SqliteDb } from './database.ts';

/** The part of a table that is read. */
export interface PagedRows {
  /** the text after FROM */
  readonly from: string;
  /** the text after that: empty, or WHERE and conditions, to which AND can add one */
  readonly rest: string;
  /** an integer column, unique and never NULL, by which SQLite finds rows without sorting */
  readonly key: string;
  /** expressions of text, in the order of the plan's fields; one at least */
  readonly texts: readonly string[];
  readonly plan: FieldPlan;
}

interface Page {
  readonly rows: number;
  readonly last: bigint;
  readonly block: RowBlock;
}

const [fewestRows, mostRows] = [32, 1024];
/** the usual size of a page, and the largest size of a page of several rows */
const [pageBytes, mostPageBytes] = [192 * 1024, 1024 * 1024];
/** the most arguments of a function: SQLite allows 1,000 */
const mostArguments = 500;

export function pagedBlocks(database: SqliteDb, rows: PagedRows): ClosableBlocks {
  return new RowPages(database, rows);
}

class RowPages implements ClosableBlocks {
  readonly #database: SqliteDb;
  readonly #rows: PagedRows;
  /** the statement for the first page (key `true`), and the one for the others */
  readonly #statements = new Map<boolean, StatementSync>();
  #last: bigint | null = null;
  #wanted = fewestRows;
  #isOpen = true;

  constructor(database: SqliteDb, rows: PagedRows) {
    this.#database = database;
    this.#rows = rows;
  }

  async next(): Promise<RowBlock | null> {
    if (!this.#isOpen) return null;
    const wanted = this.#wanted;
    const page = this.#page(wanted);
    if (page === null) {
      this.#isOpen = false;
      return null;
    }
    this.#last = page.last;
    const fitting = Math.floor((page.rows * pageBytes) / Math.max(1, page.block.bytes.length));
    // rows that were too long together are read apart until pages are small again
    this.#wanted = Math.max(1, Math.min(fitting, this.#wanted * 4, mostRows));
    return page.block;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  /** Returns fewer rows than `wanted` if more are too long. */
  #page(wanted: number): Page | null {
    for (let rows = wanted; rows > 1; rows = Math.max(1, rows >> 3))
      try {
        return this.#database.withLongest(mostPageBytes, () => this.#read(rows));
      } catch (error) {
        if (!isTooLong(error)) throw error;
      }
    return this.#read(1);
  }

  #read(wanted: number): Page | null {
    const [bytes, last, rows] = this.#statement().get(
      ...(this.#last === null ? [wanted] : [wanted, this.#last]),
    ) as unknown as [bytes: Uint8Array | null, last: bigint | null, rows: bigint];
    if (bytes === null || last === null) return null;
    const block = fieldRows(bytes, Number(rows), this.#rows.plan);
    return { rows: Number(rows), last, block: block ?? this.#asValues(wanted) };
  }

  #statement(): StatementSync {
    const isFirst = this.#last === null;
    let statement = this.#statements.get(isFirst);
    if (statement === undefined) {
      const { key, texts } = this.#rows;
      const row = joined(texts.map((text) => `coalesce(${text}, char(30))`));
      statement = this.#database.prepareChange(
        `SELECT CAST(group_concat(t, char(31)) AS BLOB), max(k), count(*) FROM (SELECT ${key} AS k, ${row} AS t ${this.#tail()})`,
      );
      statement.setReturnArrays(true);
      this.#statements.set(isFirst, statement);
    }
    return statement;
  }

  /** Returns the statement from FROM on; ?1: the number of rows, ?2: the key after which they begin. */
  #tail(): string {
    const { from, rest, key } = this.#rows;
    const behind = this.#last === null ? '' : `${rest === '' ? ' WHERE' : ' AND'} ${key} > ?2`;
    return `FROM ${from}${rest}${behind} ORDER BY ${key} LIMIT ?1`;
  }

  /** Reads each value separately, for rows in which a value contains the separator of values, which no loaded document has. */
  #asValues(wanted: number): RowBlock {
    const { texts, plan } = this.#rows;
    const statement = this.#database.prepare(`SELECT ${texts.join(', ')} ${this.#tail()}`);
    statement.setReturnArrays(true);
    const found = statement.all(...(this.#last === null ? [wanted] : [wanted, this.#last])) as unknown as (
      | string
      | null
    )[][];
    const rows = found.map((values) => {
      const row: (string | null)[] = Array(plan.width).fill(null);
      for (const [field, column] of plan.columns.entries()) row[column] = values[field]!;
      return row;
    });
    return textBlock(rows, plan.width);
  }
}

/** Joins texts, none of them NULL, to one. */
function joined(texts: readonly string[]): string {
  if (texts.length <= mostArguments) return `concat_ws(char(31), ${texts.join(', ')})`;
  return joined([joined(texts.slice(0, mostArguments)), ...texts.slice(mostArguments)]);
}
