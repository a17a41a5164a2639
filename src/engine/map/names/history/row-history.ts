/** The history of one path's rows over the versions of a model: the tables that held them, and their columns. */
import type { ColumnType } from '../../../model/relational-model.ts';
import { maxRowBytes, type PreviousParts } from '../../tables/wide-rows.ts';

export interface HistoricColumn {
  readonly name: string;
  /** absent: not known */
  readonly type?: ColumnType;
  /** see Column.roles; absent: not known, or it has none */
  readonly roles?: readonly string[] | undefined;
  readonly part: number;
  /** an earlier version had it, but the last one did not */
  readonly former: boolean;
  /** the column was in no table that had rows: only its name is reserved (`FormerTable.hadNoRows`) */
  readonly hadNoRows?: true;
}

interface RowPart {
  readonly name: string;
  bytes: number;
  readonly columns: Map<string, string>;
}

/** The history of the rows of one path. Columns are read when they are first needed, because few rows of a large model are drawn again. */
export class RowHistory {
  readonly #parts: RowPart[] = [];
  readonly #columns = new Map<string, HistoricColumn>();
  readonly #meanings = new Map<string, string>();
  #unread: (() => void)[] = [];
  /** false: the rows are in no table, but their names are reserved (`FormerTable.hadNoRows`) */
  hadRows = false;

  get parts(): readonly RowPart[] {
    this.#read();
    return this.#parts;
  }

  get columns(): ReadonlyMap<string, HistoricColumn> {
    this.#read();
    return this.#columns;
  }

  get meanings(): Map<string, string> {
    this.#read();
    return this.#meanings;
  }

  /** by part: the table that held it */
  get names(): readonly string[] {
    return this.#parts.map(({ name }) => name);
  }

  part(name: string): number {
    const known = this.#parts.findIndex((part) => part.name === name);
    return known >= 0 ? known : this.#parts.push({ name, bytes: 0, columns: new Map() }) - 1;
  }

  /** `read` adds columns. */
  later(read: () => void): void {
    this.#unread.push(read);
  }

  #read(): void {
    if (this.#unread.length === 0) return;
    const unread = this.#unread;
    this.#unread = [];
    for (const read of unread) read();
  }

  add(
    part: number,
    name: string,
    use: string,
    former: boolean,
    details: Pick<HistoricColumn, 'type' | 'roles' | 'hadNoRows'> = {},
  ): void {
    this.#read();
    this.#parts[part]!.columns.set(name, use);
    const lower = name.toLowerCase();
    if (!this.#meanings.has(lower)) this.#meanings.set(lower, use);
    if (!this.#columns.has(use)) this.#columns.set(use, { name, part, former, ...details });
  }

  widen(part: number, bytes: number): void {
    this.#parts[part]!.bytes += bytes;
  }

  /** Returns the parts of the row. A former column returns to its earlier part while that has room for all of its earlier columns. */
  previousParts(): PreviousParts {
    // columns of tables that never had rows need no room
    const last = this.parts.findLastIndex(({ bytes }) => bytes > 0);
    return {
      bytes: this.parts.slice(0, Math.max(last, 0) + 1).map(({ bytes }) => bytes),
      partOf: (use) => {
        const known = this.columns.get(use);
        if (known === undefined || known.hadNoRows === true) return undefined;
        if (known.former && this.parts[known.part]!.bytes > maxRowBytes) return undefined;
        return known.part;
      },
    };
  }
}
