/** The memory of a tokenizer that its scanners share, and its initial size. */
export interface TokenizerMemory {
  /** names that there is room for before their columns have to grow */
  readonly names: number;
  /** initial bytes for names, which may grow */
  readonly nameBytes: number;
  /** open elements, before their columns have to grow */
  readonly depth: number;
  /** decoded bytes of a batch, before they have to grow */
  readonly decodedBytes: number;
  /** zeroed */
  ints(length: number): Int32Array;
  /** zeroed */
  bytes(length: number): Uint8Array;
  /** with arbitrary content: every element is written before it is read */
  anyInts(length: number): Int32Array;
  anyBytes(length: number): Uint8Array;
  /** a faster way to count the LFs of the bytes from `from` to `to`; -1: the caller must count them (for example because there is a CR) */
  readonly countLineFeeds?: (bytes: Uint8Array, from: number, to: number) => number;
}

/** Arrays of JavaScript's own, small at first. */
export const plainMemory: TokenizerMemory = {
  names: 64,
  nameBytes: 4096,
  depth: 256,
  decodedBytes: 1024,
  ints: (length) => new Int32Array(length),
  bytes: (length) => new Uint8Array(length),
  anyInts: (length) => new Int32Array(length),
  anyBytes: (length) => new Uint8Array(length),
};
