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
