/** Save mode `merge`: what a job says of its documents when it publishes, and what the target answers. */

/** A document of the job that is new, or takes the place of the one of its key. */
export interface MergedDocument {
  readonly key: string;
  /** name and SHA-256 that its row among those of `_documents` has been written with */
  readonly name: string;
  readonly written: string;
  /** SHA-256 (hex) that it is to have there: of a part of a file that of what it holds, wherever it stands */
  readonly sha256: string;
}

export interface MergeOrder {
  readonly documents: readonly MergedDocument[];
  /** keys in `_documents`, decimal digits: documents whose source is gone */
  readonly missing: readonly string[];
  /** documents that are replaced or missing stay, with the time until which they were valid */
  readonly keepsHistory: boolean;
}

/** A document of the target that no other one has replaced. */
export interface CurrentDocument {
  /** in `_documents`, decimal digits */
  readonly documentKey: string;
  readonly key: string;
  /** name of the file that the document was loaded with */
  readonly name: string;
  /** hex */
  readonly sha256: string;
}

/** Content of a document of the target that lies in `_unmapped`. */
export interface UnmappedOfDocument {
  /** in `_documents`, decimal digits */
  readonly documentKey: string;
  readonly xpath: string;
}

export interface MergeCounts {
  /** keys whose documents were replaced */
  readonly replaced: number;
  /** documents that are gone as their source is */
  readonly deleted: number;
}
