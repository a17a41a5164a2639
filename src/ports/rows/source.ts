/** A source of rows: a target that documents were loaded into. */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type { TargetLoad } from './target-load.ts';
import type { DocumentVersions } from '../../engine/sql/document-versions.ts';
import type { DocumentRows } from '../../engine/unshred/rows/document-rows.ts';

export interface StoredDocument {
  /** key in `_documents`, decimal digits */
  readonly key: string;
  /** name of the document when it was loaded */
  readonly name: string | null;
  /** the hash of the model that it was loaded by; null if the ledger does not tell */
  readonly modelHash: string | null;
}

export interface RowSource {
  /** Address without secrets, for logs and the job record. */
  readonly label: string;
  /** Before `open`: the logical schemas that loaded the target, the last one first. */
  loads(): Promise<readonly TargetLoad[]>;
  /** First call but for `loads`. All that is read afterwards is as it was at this moment. AppError `not_found` where the target does not exist. */
  open(model: RelationalModel): Promise<void>;
  /** Documents in the order of their keys; those of one name alone where one is given. `versions`: see there, those that are current. */
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
