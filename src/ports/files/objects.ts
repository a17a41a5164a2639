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

/** AppError `service_unavailable` where the store does not answer, refuses the credentials, or is full. */
export interface ObjectStore {
  /** null: there is none */
  head(key: string): Promise<StoredObject | null>;
  /** Fewer bytes where the object ends before; null: there is none. */
  read(key: string, range?: ByteRange): Promise<ReadableStream<Uint8Array> | null>;
  /**
   * Over what stood there; memory does not follow the body's size. Over `maxBytes`: AppError `payload_too_large`. Where it fails
   * nothing is left. Answers the size.
   */
  write(key: string, body: Uint8Array | ReadableStream<Uint8Array>, maxBytes?: number): Promise<number>;
  /** Removes the object; where there is none, nothing is wrong. */
  removeObject(key: string): Promise<void>;
  /** Keys that begin with `prefix`, in the order of their bytes. */
  listObjects(prefix: string): AsyncIterable<StoredObject>;
}

/** A store that can tell a new object from one that is there: what versions of tables are decided with. */
export interface DecidingStore extends ObjectStore {
  /**
   * A new object; false where there is one by that key already. AppError `invalid_option` where the store cannot tell,
   * `service_unavailable` where it is not known what became of it: the object may still come.
   */
  createObject(key: string, bytes: Uint8Array): Promise<boolean>;
}
