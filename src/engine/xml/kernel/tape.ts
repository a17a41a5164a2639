/** The tape of tokens in the memory of the kernel, and its text. */
import { createTokenizerKernels, type TokenizerKernels } from '../tokenizer/fast.ts';
import {
  FLAG_DECODED,
  KIND_ATTRIBUTE,
  KIND_MASK,
  RECORD_INTS,
  type TokenBatch,
  FLAG_DEFAULTED,
  FLAG_WHITE_SPACE,
  KIND_COMMENT,
  KIND_END,
  KIND_INSTRUCTION,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  type NameTable,
} from '../tokens.ts';
import type { ScanKernel } from './instance.ts';
import { utf8Text } from '../utf8.ts';

// Provides batches of tokens to a consumer in WebAssembly. Batches of a tokeniser that shares the consumer's memory are already there;
// others are copied.

/** The most records of a copied batch. Longer ones are not copied. */
const RECORDS = 8192;
const BYTES = 72 * 1024;
const DECODED_BYTES = 448 * 1024;
/** Bytes that the copies need, with a margin after each. */
export const TAPE_BYTES: number = RECORDS * RECORD_INTS * 4 + BYTES + DECODED_BYTES + 4 * 64;

/** The addresses of a batch. */
interface TapeOffsets {
  events: number;
  bytes: number;
  decoded: number;
}

interface TapeMemory {
  readonly buffer: ArrayBuffer;
  ints(length: number): Int32Array;
  bytes(length: number): Uint8Array;
}

export class TapeInMemory {
  readonly #buffer: ArrayBuffer;
  readonly #events: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #decoded: Uint8Array;
  /** addresses of the last batch that was copied */
  readonly offsets: TapeOffsets = { events: 0, bytes: 0, decoded: 0 };

  constructor(memory: TapeMemory) {
    this.#buffer = memory.buffer;
    this.#events = memory.ints(RECORDS * RECORD_INTS);
    this.#bytes = memory.bytes(BYTES);
    this.#decoded = memory.bytes(DECODED_BYTES);
  }

  /** True if all of the batch is in the memory. */
  holds({ events, bytes, decoded }: TokenBatch): boolean {
    return [events, bytes, decoded].every(({ buffer }) => buffer === this.#buffer);
  }

  /** True if the batch is in the memory or fits there; `offsets` then has its addresses. */
  bring({ events, count, bytes, decoded }: TokenBatch): boolean {
    const { offsets } = this;
    if (events.buffer === this.#buffer) offsets.events = events.byteOffset;
    else {
      if (count > RECORDS) return false;
      this.#events.set(events.subarray(0, count * RECORD_INTS));
      offsets.events = this.#events.byteOffset;
    }
    if (bytes.buffer === this.#buffer) offsets.bytes = bytes.byteOffset;
    else {
      const used = endOfRanges(events, count, 0);
      // if the batch is a part of a document, which may begin far into the window, nothing before it is needed
      const from = Math.min(used, startOfRanges(events, count));
      if (used - from > BYTES || from > this.#bytes.byteOffset) return false;
      this.#bytes.set(bytes.subarray(from, used));
      offsets.bytes = this.#bytes.byteOffset - from;
    }
    if (decoded.buffer === this.#buffer) offsets.decoded = decoded.byteOffset;
    else {
      const used = endOfRanges(events, count, FLAG_DECODED);
      if (used > DECODED_BYTES) return false;
      this.#decoded.set(decoded.subarray(0, used));
      offsets.decoded = this.#decoded.byteOffset;
    }
    return true;
  }
}

/** Returns the end of the ranges in `decoded`, or in `bytes`. They ascend, except that a tag's end is after its attributes. */
function endOfRanges(events: Int32Array, count: number, decoded: number): number {
  let end = 0;
  for (let n = (count - 1) * RECORD_INTS; n >= 0; n -= RECORD_INTS) {
    if ((events[n]! & FLAG_DECODED) !== decoded) continue;
    end = Math.max(end, events[n + 3]!);
    if (decoded !== 0 || (events[n]! & KIND_MASK) !== KIND_ATTRIBUTE) break;
  }
  return end;
}

/** Returns the kernel that shares the memory, and others while that one is in use. */
export function kernelsAround(own: ScanKernel): TokenizerKernels {
  const others = createTokenizerKernels(0);
  let free = true;
  return {
    take(firstBytes) {
      if (!free) return others.take(firstBytes);
      free = false;
      return own;
    },
    giveBack(kernel) {
      if (kernel !== own) {
        others.giveBack(kernel);
        return;
      }
      free = true;
    },
  };
}

/** Returns the start of the first range in `bytes`. */
function startOfRanges(events: Int32Array, count: number): number {
  for (let n = 0; n < count * RECORD_INTS; n += RECORD_INTS)
    if ((events[n]! & FLAG_DECODED) === 0) return events[n + 2]!;
  return 0;
}

// Text of a batch's records, and a line about each for tests and debugging.

/** The text of a record's range. */
export function readBatchText(batch: TokenBatch, recordIndex: number): string {
  const n = recordIndex * RECORD_INTS;
  const bytes = (batch.events[n]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
  return utf8Text(bytes.subarray(batch.events[n + 2]!, batch.events[n + 3]!));
}

const kindNames: Readonly<Record<number, string>> = {
  [KIND_START]: 'START',
  [KIND_END]: 'END',
  [KIND_ATTRIBUTE]: 'ATTRIBUTE',
  [KIND_TEXT]: 'TEXT',
  [KIND_NAMESPACE]: 'NAMESPACE',
  [KIND_COMMENT]: 'COMMENT',
  [KIND_INSTRUCTION]: 'INSTRUCTION',
};

/** One line about a record: `START {urn:x}a`, `ATTRIBUTE b "1" defaulted`, `TEXT "\n" white`. Says nothing of places. */
export function describeRecord(batch: TokenBatch, recordIndex: number, names: NameTable): string {
  const kindAndFlags = batch.events[recordIndex * RECORD_INTS]!;
  const nameId = batch.events[recordIndex * RECORD_INTS + 1]!;
  const kind = kindAndFlags & KIND_MASK;
  const parts = [kindNames[kind] ?? `KIND ${kind}`];
  if (kind !== KIND_TEXT && kind !== KIND_COMMENT) {
    const uri = names.namespaceUri(nameId);
    parts.push(uri === '' ? names.localName(nameId) : `{${uri}}${names.localName(nameId)}`);
  }
  if (kind !== KIND_START && kind !== KIND_END) parts.push(JSON.stringify(readBatchText(batch, recordIndex)));
  if ((kindAndFlags & FLAG_WHITE_SPACE) !== 0) parts.push('white');
  if ((kindAndFlags & FLAG_DEFAULTED) !== 0) parts.push('defaulted');
  return parts.join(' ');
}
