/** Files as the service sees them: static assets, logs, objects of a store, the files of organisations, and packages. */

// Static files that the service serves itself: the browsable reference's script and style sheet, and the documentation.

export interface AssetStore {
  /** `name`: path of a file below the store's folder, such as `swagger-ui.css`; null if there is none. */
  read(name: string): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** The names in swagger-ui-dist that the reference page needs. */
export const docAssetNames = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'] as const;

/** Appends the output of one attempt at a job to the end of the job's log. */
export interface LogAppender {
  /** Resolves when there is room for more; rejects once some could not be kept, with the reason in `code`. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when all is kept; rejects like `append`. */
  close(): Promise<void>;
}

/** Objects under keys, as S3, R2 and their like have them: each is there whole or not at all. Keys are '/'-separated. */
export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** epoch milliseconds, by the store's clock */
  readonly modified: number;
  /** its entity tag, as the store writes it */
  readonly version: string;
}

/** Bytes [offset, offset + length) of an object. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** AppError `service_unavailable` if the store does not answer, refuses the credentials, or is full. */
export interface ObjectStore {
  /** Returns null if there is none. */
  head(key: string): Promise<StoredObject | null>;
  /** Returns fewer bytes if the object ends before; null if there is none. */
  read(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Replaces any existing object; memory does not grow with the body. Over `maxBytes`: AppError `payload_too_large`. A failure leaves
   * nothing. Returns the size.
   */
  write(key: string, body: Uint8Array | ReadableStream<Uint8Array>, maxBytes?: number): Promise<number>;
  /** Removes the object, if there is one. */
  removeObject(key: string): Promise<void>;
  /** Keys that begin with `prefix`, in the order of their bytes. */
  listObjects(prefix: string): AsyncIterable<StoredObject>;
}

/** A store that can distinguish a new object from an existing one, which decides versions of tables. */
export interface DecidingStore extends ObjectStore {
  /**
   * Creates an object; returns false if the key exists. AppError `invalid_option` if the store cannot tell, `service_unavailable` if
   * the outcome is unknown: the object may still appear.
   */
  createObject(key: string, bytes: Uint8Array): Promise<boolean>;
}

/** A folder of a store, for the tables of a target. */
export interface BucketFolder {
  readonly objects: DecidingStore;
  /** location in the form of programs that read tables: `s3://BUCKET/PREFIX`, `abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PREFIX` */
  readonly location: string;
  /** before every key: '' or ending in '/' */
  readonly prefix: string;
}

// Files of an organisation: uploads, relative inputs and outputs, job logs. Paths are relative, '/'-separated, checked by the store.

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

/** Reads files at locations that `FileStore.resolve` has returned. */
export interface FileReader {
  /**
   * Yields the files at or below a location, in the order of their names; none if there is none. With `scan`, in any order and one by
   * one, so that a folder may have any number of them.
   */
  listFiles(location: string, scan?: FileScan): AsyncIterable<LocatedFile>;
  /** Returns null if there is no such file. */
  read(location: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
}

/** Writes files at locations that `FileStore.resolve` has returned, or below them: `<location>/<name>`. */
export interface FileWriter {
  /** Replaces any existing file, completely or not at all; returns the size. A body that breaks off leaves nothing. */
  write(location: string, body: Uint8Array | ReadableStream<Uint8Array>): Promise<number>;
  /** Removes the file at a location; none is fine. */
  discard(location: string): Promise<void>;
  /**
   * Creates a file; returns false if there is one. Absent: the store cannot distinguish a new file from an existing one, and has no
   * tables of Delta Lake and Iceberg.
   */
  create?(location: string, bytes: Uint8Array): Promise<boolean>;
}

/** The files of an organisation for its jobs: inputs and outputs. */
export interface JobFiles extends FileReader, FileWriter {
  /** whether locations are paths of this machine's file system, which programs can be given */
  readonly local: boolean;
  /**
   * Checks a path that a client named: inside the organisation's folder or an allowed root, links resolved. Returns the absolute
   * location. AppError `path_not_allowed` outside, `input_not_found` when `mustExist` and absent.
   */
  resolve(idOrg: number, path: string, mustExist: boolean): Promise<string>;
  /** Size of the files in the organisation's own folder, without uploads whose end has not come. */
  usedBytes(idOrg: number): Promise<number>;
}

/** Uploads of organisations: the endpoints below `/v2/file`, and the removal of expired files. */
export interface UploadStore {
  /** Streams a body to `uploads/<random>/<name>`; over `maxBytes`: AppError payload_too_large and nothing is left. */
  saveUpload(
    idOrg: number,
    name: string,
    body: ReadableStream<Uint8Array>,
    maxBytes: number,
  ): Promise<StoredFile>;
  /**
   * Removes a file of the organisation's own folder, such as an upload. AppError `not_found` if there is none, `path_not_allowed` for
   * folders and for other places.
   */
  removeFile(idOrg: number, path: string): Promise<void>;
  /** Removes uploads of all organisations that are older, and those that were broken off; returns their number. */
  removeUploads(which: ExpiredUploads): Promise<number>;
}

export interface FileStore extends JobFiles, UploadStore {}

/** The logs of jobs, for readers. */
export interface LogReader {
  /** Removes the log of a job whose record is gone; none is fine. */
  removeLog(idJob: number): Promise<void>;
  /** Size of a job's log in bytes; null when there is none (yet). */
  logSize(idJob: number): Promise<number | null>;
  /** Size of the logs of these jobs together. */
  logBytes(idJobs: readonly number[]): Promise<number>;
  /** Bytes [offset, offset + length) of a job's log, fewer at its end, none when it is removed. */
  readLog(idJob: number, offset: number, length: number): Promise<Uint8Array>;
}

/** The logs of jobs, for the workers that write them, too. */
export interface LogStore extends LogReader {
  /** Opens the log for the output of an attempt, which follows what is there. */
  openLog(idJob: number, epoch: number): Promise<LogAppender>;
}

// A folder that holds one package: `manifest.json`, and parts with one JSON value per line.

export interface PartDigest {
  readonly records: number;
  readonly bytes: number;
  /** hexadecimal, of the whole file */
  readonly sha256: string;
}

/** One reading of a part, from its start; may be begun again as a new one. */
interface PartReading {
  /** Lines without their line ends. AppError `unprocessable_input` if the bytes are not lines of UTF-8 text. */
  readonly lines: AsyncIterable<string>;
  /** The digest of all that was read; complete once the lines have ended. */
  digest(): PartDigest;
}

export interface PackageFolder {
  /** Lists the files in the folder by name. AppError `unprocessable_input` for anything but a plain file. */
  listFiles(): Promise<readonly { readonly name: string; readonly bytes: number }[]>;
  /** Writes a new file, each line with its end. */
  write(name: string, lines: AsyncIterable<string> | Iterable<string>): Promise<PartDigest>;
  read(name: string): PartReading;
}
