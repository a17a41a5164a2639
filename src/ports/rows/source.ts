/** A source of rows: a target that documents were loaded into. */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { TargetLoad } from './target-load.ts';
import type { DocumentVersions } from '../../engine/sql/loaded-documents.ts';
import type { DocumentRows } from '../../engine/unshred/rows/document-rows.ts';

export interface StoredDocument {
  /** key in `_documents`, decimal digits */
  readonly key: string;
  /** name of the document when it was loaded */
  readonly name: string | null;
  /** the hash of the model that it was loaded with; null if the ledger does not tell */
  readonly modelHash: string | null;
}

export interface RowSource {
  /** Address without secrets, for logs and the job record. */
  readonly label: string;
  /** Before `open`: the logical schemas that loaded the target, the last one first. */
  loads(): Promise<readonly TargetLoad[]>;
  /** The first call except `loads`. All later reads see the state of this moment. AppError `not_found` if the target does not exist. */
  open(model: RelationalModel): Promise<void>;
  /**
   * Yields documents in the order of their keys; only those with the name if one is given. `versions` (see there): default: the current
   * ones.
   */
  documents(name?: string, versions?: DocumentVersions): AsyncIterable<StoredDocument>;
  documentCount(name?: string, versions?: DocumentVersions): Promise<number>;
  /**
   * Rows from that document on, those of documents after it included; null: all from the first. Rows given before are of no more
   * use then.
   */
  rowsFrom(documentKey: string | null): Promise<DocumentRows>;
  /** Like `rowsFrom`, but for one document. */
  rowsOf(documentKey: string): Promise<DocumentRows>;
  close(): Promise<void>;
}
