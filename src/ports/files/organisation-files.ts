/** Files of an organisation: uploads, relative inputs and outputs, job logs. Paths are relative, '/'-separated, checked by the store. */
import type { ByteRange } from './objects.ts';

export interface StoredFile {
  /** path for the client, such as `uploads/7f3c/donut.xml.gz` */
  readonly path: string;
  readonly bytes: number;
}

/** Times are epoch milliseconds, of the last change. */
export interface ExpiredUploads {
  readonly olderThan: number;
  /** age of uploads whose end never came */
  readonly partialOlderThan: number;
  /** `<id_org>/<path>` of files, or of folders with all that is in them, that stay */
  readonly except: ReadonlySet<string>;
}

export interface FileScan {
  /** whether a file is wanted, by its name below the location; others may be left out */
  readonly accept: (name: string) => boolean;
  /** called for each file, and for each folder if there are folders; an exception ends the list */
  readonly onEntry: () => void;
}

/** A file at or below a location. */
export interface LocatedFile {
  /** path relative to the listed location, '/'-separated; for a file that was listed itself its own name */
  readonly name: string;
  readonly location: string;
  readonly bytes: number;
  /** epoch milliseconds, of the last change */
  readonly modified: number;
  /** another one whenever the content is another: its entity tag, or when it was changed and its size */
  readonly version: string;
}

export interface FileStore {
  /** whether locations are paths of this machine's file system, which programs can be given */
  readonly local: boolean;
  /** Streams a body to `uploads/<random>/<name>`; over `maxBytes`: AppError payload_too_large and nothing is left. */
  saveUpload(
    idOrg: number,
    name: string,
    body: ReadableStream<Uint8Array>,
    maxBytes: number,
  ): Promise<StoredFile>;
  /**
   * Checks a path that a client named: inside the organisation's folder or an allowed root, links resolved. Returns the absolute
   * location. AppError `path_not_allowed` outside, `input_not_found` when `mustExist` and absent.
   */
  resolve(idOrg: number, path: string, mustExist: boolean): Promise<string>;
  /**
   * Yields the files at or below a location that `resolve` has returned, in the order of their names; none if there is none. With
   * `scan`, in any order and one by one, so that a folder may have any number of them.
   */
  listFiles(location: string, scan?: FileScan): AsyncIterable<LocatedFile>;
  /** Returns null if there is no such file. */
  read(location: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /** Replaces any existing file, completely or not at all; returns the size. */
  write(location: string, body: Uint8Array | ReadableStream<Uint8Array>): Promise<number>;
  /** Removes the file at a location; none is fine. */
  discard(location: string): Promise<void>;
  /**
   * Removes a file of the organisation's own folder, such as an upload. AppError `not_found` if there is none, `path_not_allowed` for
   * folders and for other places.
   */
  removeFile(idOrg: number, path: string): Promise<void>;
  /** Size of the files in the organisation's own folder, without uploads whose end has not come. */
  usedBytes(idOrg: number): Promise<number>;
  /** Removes uploads of all organisations that are older, and those that were broken off; returns their number. */
  removeUploads(which: ExpiredUploads): Promise<number>;
  /** The log of a job whose record is gone; none is fine. */
  removeLog(idJob: number): Promise<void>;
  /** Size of a job's log in bytes; null when there is none (yet). */
  logSize(idJob: number): Promise<number | null>;
  /** Size of the logs of these jobs together. */
  logBytes(idJobs: readonly number[]): Promise<number>;
  /** Bytes [offset, offset + length) of a job's log, fewer at its end, none when it is removed. */
  readLog(idJob: number, offset: number, length: number): Promise<Uint8Array>;
}
