/** Messages of the SSH File Transfer Protocol, version 3 (draft-ietf-secsh-filexfer-02), as far as files are listed and read. */

export const types = {
  init: 1,
  version: 2,
  open: 3,
  close: 4,
  read: 5,
  fstat: 8,
  openDirectory: 11,
  readDirectory: 12,
  stat: 17,
  realPath: 16,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attributes: 105,
} as const;

export const statuses = { ok: 0, end: 1, noSuchFile: 2, permissionDenied: 3 } as const;

export interface FileAttributes {
  readonly kind: 'file' | 'folder' | 'other';
  readonly bytes: number;
  /** epoch seconds; null: unknown */
  readonly modified: number | null;
}

export interface DirectoryEntry extends FileAttributes {
  readonly name: string;
}

/** The error for a server message that violates the protocol. */
export class ProtocolFault extends Error {}

const encoder = new TextEncoder();

/** Builds one message with its length, from numbers of 32 bits, of 64 (bigint), texts and bytes (preceded by their lengths). */
export function message(
  type: number,
  ...parts: readonly (number | bigint | string | Uint8Array)[]
): Uint8Array {
  const fields = parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part));
  const length = fields.reduce<number>(
    (sum, field) => sum + (typeof field === 'number' ? 4 : typeof field === 'bigint' ? 8 : 4 + field.length),
    1,
  );
  const bytes = new Uint8Array(4 + length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, length);
  bytes[4] = type;
  let at = 5;
  for (const field of fields) {
    if (typeof field === 'number') view.setUint32(at, field);
    else if (typeof field === 'bigint') view.setBigUint64(at, field);
    else {
      view.setUint32(at, field.length);
      bytes.set(field, at + 4);
    }
    at += typeof field === 'number' ? 4 : typeof field === 'bigint' ? 8 : 4 + field.length;
  }
  return bytes;
}

/** Reads the fields of a message one after the other; ProtocolFault past its end. */
export class MessageReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  number(): number {
    return this.#view.getUint32(this.#take(4));
  }

  large(): number {
    const value = Number(this.#view.getBigUint64(this.#take(8)));
    if (!Number.isSafeInteger(value)) throw new ProtocolFault('tells a size that no file has');
    return value;
  }

  bytes(): Uint8Array {
    const length = this.number();
    const from = this.#take(length);
    return this.#bytes.subarray(from, from + length);
  }

  text(): string {
    return new TextDecoder().decode(this.bytes());
  }

  attributes(): FileAttributes {
    const flags = this.number();
    const bytes = (flags & 1) === 0 ? 0 : this.large();
    if ((flags & 2) !== 0) this.#take(8);
    const mode = (flags & 4) === 0 ? null : this.number();
    let modified: number | null = null;
    if ((flags & 8) !== 0) {
      this.number();
      modified = this.number();
    }
    if (flags >>> 31 === 1) for (let left = this.number(); left > 0; left -= 1) this.#pair();
    return { kind: kindOf(mode), bytes, modified };
  }

  #pair(): void {
    this.bytes();
    this.bytes();
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at)
      throw new ProtocolFault('sends a message that is shorter than it says');
    this.#at += length;
    return at;
  }
}

/** Returns the kind from the POSIX type in the mode; a link is neither. */
function kindOf(mode: number | null): FileAttributes['kind'] {
  const type = mode === null ? 0o10 : mode >>> 12;
  return type === 0o10 ? 'file' : type === 0o4 ? 'folder' : 'other';
}
