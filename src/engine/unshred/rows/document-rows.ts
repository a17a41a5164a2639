/** The rows that are needed to write a document back: for each table, rows as bytes, in document order. */

/**
 * Rows in one piece of bytes. A value is UTF-8 in the lexical forms of XSD as far as the column's type gives them (true, 12.50,
 * 2024-01-31T10:00:00Z, INF), a list with a blank between its items. Whoever is given a block may keep it: it does not change before it is given back.
 */
export interface RowBlock {
  readonly bytes: Uint8Array;
  /** row after row, by the model's column index: where the value begins in `bytes`, and where it ends; NULL begins at -1 */
  readonly cells: Int32Array;
  readonly rows: number;
}

export interface RowBlocks {
  /** The next rows, one at least; null: there are no more. One call at a time. */
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
  /** the first row not taken yet; null: there are no more */
  readonly head: Row | null;
  /** Takes the head; a promise where the next row has to be fetched. */
  advance(): Promise<void> | undefined;
}

/**
 * Rows of one document, or of several one after the other. Ascending row keys are document order: a row comes after its parent and
 * its parent's earlier children.
 */
export interface DocumentRows {
  /** rows of a table of the model; null where there is none */
  table(table: number): Promise<RowBlocks | null>;
  /** `_lexical` of a table's rows, in the order of these */
  lexical(table: number): Promise<RowStream<LexicalRow> | null>;
  /** `_unmapped` of a table's rows, in the order of these; null: of the documents, by their keys */
  unmapped(table: number | null): Promise<RowStream<UnmappedRow> | null>;
}
