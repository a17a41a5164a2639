/** The rows that are needed to write a document back: for each table, rows as bytes, in document order. */

/**
 * Rows in one array of bytes. A value is UTF-8 in the lexical form of XSD if the column's type gives it (true, 12.50,
 * 2024-01-31T10:00:00Z, INF); a list has a blank between its items. The receiver of a block may keep it: it does not change before it is
 * given back.
 */
export interface RowBlock {
  readonly bytes: Uint8Array;
  /** row after row, by the model's column index: start and end of the value in `bytes`; NULL starts at -1 */
  readonly cells: Int32Array;
  readonly rows: number;
}

export interface RowBlocks {
  /** Returns the next rows, at least one, or null at the end. Only one call may be pending. */
  next(): Promise<RowBlock | null>;
  /**
   * Gives back a block that is no longer used, after the next one was requested, so that its memory can be reused. Called once per block.
   */
  giveBack?(block: RowBlock): void;
}

/** An entry of `_lexical`. */
export interface LexicalRow {
  readonly rowKey: string;
  readonly columnName: string;
  readonly content: string;
}

/** An entry of `_unmapped`. */
export interface UnmappedRow {
  readonly parentKey: string;
  readonly position: number;
  readonly xpath: string;
  readonly kind: string;
  readonly content: string | null;
}

export interface RowStream<Row> {
  /** the first row that has not been consumed; null: all have been */
  readonly head: Row | null;
  /** Consumes the head. Returns a promise if the next row must be fetched. */
  advance(): Promise<void> | undefined;
}

/**
 * Rows of one or more consecutive documents. Ascending row keys are document order: a row comes after its parent and its parent's earlier
 * children.
 */
export interface DocumentRows {
  /** Returns the rows of a table of the model, or null if there are none. */
  table(table: number): Promise<RowBlocks | null>;
  /** `_lexical` of a table's rows, in the order of these */
  lexical(table: number): Promise<RowStream<LexicalRow> | null>;
  /** `_unmapped` of a table's rows, in the order of these; null: of the documents, by their keys */
  unmapped(table: number | null): Promise<RowStream<UnmappedRow> | null>;
}
