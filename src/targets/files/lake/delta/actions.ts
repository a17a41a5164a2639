/** What the log of a Delta table says, line by line, and what follows from it (the Delta transaction log protocol). */

export interface AddedFile {
  /** as the log has it: percent-encoded */
  readonly path: string;
  readonly size: number;
  readonly modificationTime?: number;
  readonly dataChange?: boolean;
  readonly stats?: string | null;
  readonly deletionVector?: unknown;
  readonly partitionValues?: Readonly<Record<string, string | null>>;
}

export interface Metadata {
  readonly id: string;
  readonly schemaString: string;
  readonly partitionColumns?: readonly string[];
  readonly configuration?: Readonly<Record<string, string>>;
  readonly createdTime?: number;
  readonly [member: string]: unknown;
}

export interface Protocol {
  readonly minReaderVersion: number;
  readonly minWriterVersion: number;
  readonly readerFeatures?: readonly string[] | null;
  readonly writerFeatures?: readonly string[] | null;
}

export interface RemovedFile {
  readonly path: string;
  readonly [member: string]: unknown;
}

/** One line of a log; members that are not there may be null in checkpoints. */
export interface Action {
  readonly commitInfo?: Readonly<Record<string, unknown>> | null;
  readonly protocol?: Protocol | null;
  readonly metaData?: Metadata | null;
  readonly txn?: { readonly appId: string; readonly version: number; readonly lastUpdated?: number } | null;
  readonly add?: AddedFile | null;
  readonly remove?: RemovedFile | null;
}

export interface DeltaState {
  readonly version: number;
  readonly protocol: Protocol;
  readonly metadata: Metadata;
  /** by path below the table's folder, in the order in which they were added */
  readonly files: ReadonlyMap<string, AddedFile>;
  /** by path, those that are no more in the table */
  readonly removed: ReadonlyMap<string, RemovedFile>;
  /** the last transaction of each application; of our jobs the last one alone */
  readonly transactions: ReadonlyMap<string, number>;
  /** what the newest version says of the tables’ versions; null: nothing */
  readonly told: Readonly<Record<string, unknown>> | null;
  /** the version of the last checkpoint that is known of; 0: none */
  readonly checkpoint: number;
}
