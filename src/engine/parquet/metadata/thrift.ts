/** Thrift's compact protocol, as far as Parquet's metadata needs it (Thrift, "Compact protocol encoding"). */
import { ByteBuffer } from '../../shred/rows/byte-buffer.ts';

const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

export type ListKind = 'boolean' | 'i32' | 'i64' | 'binary' | 'struct';
const listKinds: Readonly<Record<ListKind, number>> = {
  boolean: TRUE,
  i32: I32,
  i64: I64,
  binary: BINARY,
  struct: STRUCT,
};

const utf8 = new TextEncoder();

/** Writes one structure; fields in ascending order of their numbers. */
export class ThriftWriter {
  readonly #out = new ByteBuffer(1024);
  /** number of the last field of each structure that is open */
  readonly #last: number[] = [0];

  /** Ends the structure and returns its bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    this.#out.pushByte(0);
    return this.#out.take();
  }

  boolean(field: number, value: boolean): void {
    this.#field(field, value ? TRUE : FALSE);
  }

  byte(field: number, value: number): void {
    this.#field(field, BYTE);
    this.#out.pushByte(value);
  }

  i16(field: number, value: number): void {
    this.#field(field, I16);
    this.#varint(value * 2);
  }

  /** must not be negative; no number of Parquet's metadata is */
  i32(field: number, value: number): void {
    this.#field(field, I32);
    this.#varint(value * 2);
  }

  /** must not be negative */
  i64(field: number, value: number): void {
    this.#field(field, I64);
    this.#varint(value * 2);
  }

  binary(field: number, value: Uint8Array | string): void {
    this.#field(field, BINARY);
    this.#bytes(typeof value === 'string' ? utf8.encode(value) : value);
  }

  struct(field: number, write: () => void): void {
    this.#field(field, STRUCT);
    this.#inner(write);
  }

  list<T>(field: number, kind: ListKind, items: readonly T[], write?: (item: T) => void): void {
    this.#field(field, LIST);
    const code = listKinds[kind];
    if (items.length < 15) this.#out.pushByte((items.length << 4) | code);
    else {
      this.#out.pushByte(0xf0 | code);
      this.#varint(items.length);
    }
    for (const item of items) {
      if (kind === 'struct') this.#inner(() => write!(item));
      else if (kind === 'boolean') this.#out.pushByte(item === true ? TRUE : FALSE);
      else if (typeof item === 'number') this.#varint(item * 2);
      else this.#bytes(typeof item === 'string' ? utf8.encode(item) : (item as Uint8Array));
    }
  }

  #inner(write: () => void): void {
    this.#last.push(0);
    write();
    this.#last.pop();
    this.#out.pushByte(0);
  }

  #field(field: number, kind: number): void {
    const before = this.#last.at(-1)!;
    this.#last[this.#last.length - 1] = field;
    this.#out.pushByte(((field - before) << 4) | kind);
  }

  #bytes(bytes: Uint8Array): void {
    this.#varint(bytes.length);
    this.#out.push(bytes, 0, bytes.length);
  }

  /** below 2^53 */
  #varint(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#out.pushByte((rest % 128) | 128);
    this.#out.pushByte(rest);
  }
}
