/** Save mode `merge`: the facts about its documents that a job passes when it publishes, and the target's answer. */

/** A document of the job that is new, or takes the place of the one of its key. */
export interface MergedDocument {
  readonly key: string;
  /** name and SHA-256 that its row among those of `_documents` has been written with */
  readonly name: string;
  readonly written: string;
  /** SHA-256 (hex) that it must have in the target; for a part of a file, the hash of the part's content, wherever it is in the file */
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
  /** key in `_documents`, decimal digits */
  readonly documentKey: string;
  readonly key: string;
  /** name of the file that the document was loaded with */
  readonly name: string;
  /** hex */
  readonly sha256: string;
}

/** Content of a document of the target that is in `_unmapped`. */
export interface UnmappedOfDocument {
  /** key in `_documents`, decimal digits */
  readonly documentKey: string;
  readonly xpath: string;
}

export interface MergeCounts {
  /** keys whose documents were replaced */
  readonly replaced: number;
  /** documents that are gone as their source is */
  readonly deleted: number;
}
