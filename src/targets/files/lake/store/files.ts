/** The files of a folder of tables, on a disk or in a bucket, as formats read and make them. */

import type { TableCatalogue } from '../iceberg/shape.ts';

/** `an attempt`: a table that a job made before it died, and that others have rows in by now; one without rows is nobody’s. */
export type TableHolder = 'nobody' | 'others' | 'an attempt';

/** Paths are '/'-separated, below the folder. */
export interface LakeFiles {
  /** null: files beside the rows tell the versions of tables */
  readonly catalogue: TableCatalogue | null;
  /** names of what lies in a folder; none where it is not there */
  list(folder: string): Promise<readonly string[]>;
  /** null: there is no such file */
  read(path: string): Promise<Uint8Array | null>;
  /** A new file, whole and durable; false where there is one, which stays. */
  create(path: string, content: string): Promise<boolean>;
  /** Over what stood there, whole and durable. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** A finished file of this machine becomes that one, which is new. */
  add(local: string, path: string): Promise<void>;
  /** none is fine */
  remove(path: string): Promise<void>;
  /** AppError `target_not_allowed` where what stands there is no plain file. */
  checkFile(path: string): Promise<void>;
  /** A path of this machine with that file’s content; as `checkFile`. */
  localFile(path: string): Promise<string>;
  /** so that files can be made there */
  makeFolder(path: string): Promise<void>;
  /** Whose table lies there, of those that no job has told of. */
  holderOf(path: string): Promise<TableHolder>;
  /** what other programs open it by */
  locationOf(path: string): Promise<string>;
}
