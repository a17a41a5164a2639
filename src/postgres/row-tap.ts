/**
 * Takes rows as the server sends them off a connection before the driver (3.4.9) converts them: the driver sees an answer without rows.
 * Formats: PostgreSQL manual §54.7.
 */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib';

/** length of a message header: kind and length of the rest */
const headerBytes = 5;
const dataRow = 0x44;

export interface RowTap {
  /** Runs `query` and returns its rows as messages in their original form. One query at a time. */
  take(query: () => Promise<unknown>): Promise<Uint8Array>;
  /** Returns a filter for one more socket: of the bytes received, it returns those that the driver must see. */
  divert(): (chunk: Uint8Array) => Uint8Array;
}

export function createRowTap(): RowTap {
  let rows: Uint8Array[] | null = null;
  return {
    async take(query) {
      rows = [];
      try {
        await query();
        return joined(rows);
      } finally {
        rows = null;
      }
    },
    divert: () => {
      const walk = new MessageWalk();
      return (chunk) => walk.sort(chunk, rows);
    },
  };
}

/** Walks through messages, which may end anywhere in the received pieces. */
class MessageWalk {
  readonly #header = new Uint8Array(headerBytes);
  #known = 0;
  /** bytes of the message that are still to come */
  #missing = 0;

  /** Adds rows to `rows` if there is such a list, and returns the other messages. */
  sort(chunk: Uint8Array, rows: Uint8Array[] | null): Uint8Array {
    const rest: Uint8Array[] = [];
    for (let at = 0; at < chunk.length;) {
      const from = at;
      const isRow = this.#kindAt(chunk, at) === dataRow;
      do at = this.#messageEnd(chunk, at);
      while (at < chunk.length && (chunk[at] === dataRow) === isRow);
      const piece = chunk.subarray(from, at);
      if (isRow && rows !== null) rows.push(piece);
      else rest.push(piece);
    }
    return joined(rest);
  }

  #kindAt(chunk: Uint8Array, at: number): number {
    return this.#known > 0 ? this.#header[0]! : chunk[at]!;
  }

  /** Returns the end of the message that continues at `at`, or the end of the piece if that comes first. */
  #messageEnd(chunk: Uint8Array, at: number): number {
    let next = at;
    while (this.#known < headerBytes) {
      if (next === chunk.length) return next;
      this.#header[this.#known] = chunk[next]!;
      this.#known += 1;
      next += 1;
      if (this.#known === headerBytes) this.#missing = lengthOf(this.#header);
    }
    const taken = Math.min(this.#missing, chunk.length - next);
    this.#missing -= taken;
    if (this.#missing === 0) this.#known = 0;
    return next + taken;
  }
}

function lengthOf([, a, b, c, d]: Uint8Array): number {
  return Math.max(0, a! * 2 ** 24 + b! * 2 ** 16 + c! * 2 ** 8 + d! - 4);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

// Bytes as they are stored: deflated. The data is packed already, a higher level gains little and costs much.

const deflateAsync = promisify(deflateRaw);
const inflateAsync = promisify<Uint8Array, Buffer<ArrayBuffer>>(inflateRaw);

export function deflated(bytes: Uint8Array): Promise<Buffer> {
  return deflateAsync(bytes, { level: 1 });
}

/** Inflates synchronously, because it is not known in advance which parts of a model are read. */
export function inflated(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return inflateRawSync(bytes);
}

export function inflatedApart(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return inflateAsync(bytes);
}
