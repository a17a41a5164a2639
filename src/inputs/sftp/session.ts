/** One session of SFTP over the two pipes of a program. Many requests can be open at a time, each answered under its number. */
import type { Readable, Writable } from 'node:stream';
import { fixedLimits } from '../../config/limits.ts';

// Messages of the SSH File Transfer Protocol, version 3 (draft-ietf-secsh-filexfer-02), as far as files are listed and read.

const types = {
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

interface DirectoryEntry extends FileAttributes {
  readonly name: string;
}

/** The error for a server message that violates the protocol. */
export class ProtocolFault extends Error {}

const encoder = new TextEncoder();

/** Builds one message with its length, from numbers of 32 bits, of 64 (bigint), texts and bytes (preceded by their lengths). */
function message(type: number, ...parts: readonly (number | bigint | string | Uint8Array)[]): Uint8Array {
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
class MessageReader {
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
    if (!Number.isSafeInteger(value)) throw new ProtocolFault('reports an impossible file size');
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
      throw new ProtocolFault('sends a message that is shorter than its declared length');
    this.#at += length;
    return at;
  }
}

/** Returns the kind from the POSIX type in the mode; a link is neither. */
function kindOf(mode: number | null): FileAttributes['kind'] {
  const type = mode === null ? 0o10 : mode >>> 12;
  return type === 0o10 ? 'file' : type === 0o4 ? 'folder' : 'other';
}

// The session.

/** The error for a request that the server refuses: its status, and its message. */
export class StatusFault extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

export interface SftpSession {
  stat(path: string): Promise<FileAttributes>;
  /** Everything in a folder but itself and the one above it. */
  list(path: string): AsyncIterable<DirectoryEntry>;
  open(path: string): Promise<SftpFile>;
}

export interface SftpFile {
  attributes(): Promise<FileAttributes>;
  /** Yields the bytes from `from` to the end, as stored; `toRead`: number of bytes to request ahead. */
  read(from: number, toRead: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

interface Answer {
  readonly type: number;
  readonly body: MessageReader;
}

/** longest message; servers answer a read with 256 KiB at most */
const longest = 1024 * 1024;
const readBytes = 64 * 1024;
/** reads that are under way of one file */
const ahead = 16;

/** `onBytes`: called for every sign of life. Rejects with the reason for which the program ends, or a ProtocolFault. */
export async function openSession(
  input: Readable,
  output: Writable,
  ended: Promise<never>,
  onBytes: () => void,
): Promise<SftpSession> {
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: unknown): void }>();
  const hello = Promise.withResolvers<void>();
  let fault: unknown = null;
  let number = 0;
  const fail = (error: unknown): void => {
    fault ??= error;
    hello.reject(fault);
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
  };
  ended.catch(fail);
  input.on('error', fail);
  output.on('error', () => undefined);
  let rest: Uint8Array = new Uint8Array(0);
  input.on('data', (chunk: Uint8Array) => {
    onBytes();
    if (fault !== null) return;
    try {
      rest = takeMessages(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), (type, body) => {
        if (type === types.version) return hello.resolve();
        const asked = body.number();
        waiting.get(asked)?.resolve({ type, body });
        waiting.delete(asked);
      });
    } catch (error) {
      fail(error);
    }
  });
  const ask = (
    type: number,
    ...parts: readonly (number | bigint | string | Uint8Array)[]
  ): Promise<Answer> => {
    if (fault !== null) return Promise.reject(fault as Error);
    number = (number + 1) >>> 0;
    const answer = new Promise<Answer>((resolve, reject) => waiting.set(number, { resolve, reject }));
    output.write(message(type, number, ...parts));
    return answer;
  };
  const close = async (handle: Uint8Array): Promise<void> => {
    // a lost session has no handles
    await ask(types.close, handle).catch(() => undefined);
  };
  output.write(message(types.init, 3));
  await hello.promise;
  return {
    stat: async (path) => (await expect(types.attributes, ask(types.stat, path))).attributes(),
    async *list(path) {
      const handle = (await expect(types.handle, ask(types.openDirectory, path))).bytes().slice();
      let entries = 0;
      try {
        for (;;) {
          const body = await expect(types.name, ask(types.readDirectory, handle)).catch(atEnd);
          if (body === null) return;
          for (let left = body.number(); left > 0; left -= 1) {
            const name = body.text();
            body.bytes();
            const entry = { name, ...body.attributes() };
            entries += 1;
            if (entries > fixedLimits.patternEntries)
              throw new ProtocolFault(`lists more than ${fixedLimits.patternEntries} files in one folder`);
            if (name !== '.' && name !== '..') yield entry;
          }
        }
      } finally {
        await close(handle);
      }
    },
    async open(path) {
      const handle = (await expect(types.handle, ask(types.open, path, 1, 0))).bytes().slice();
      const read = (at: number, length: number): Promise<Uint8Array | null> => {
        const answer = expect(types.data, ask(types.read, handle, BigInt(at), length)).then(
          (body) => body.bytes().slice(),
          atEnd,
        );
        // it may fail before it is awaited
        answer.catch(() => undefined);
        return answer;
      };
      return {
        attributes: async () => (await expect(types.attributes, ask(types.fstat, handle))).attributes(),
        async *read(from, toRead) {
          const pieces: {
            readonly at: number;
            readonly length: number;
            readonly answer: ReturnType<typeof read>;
          }[] = [];
          let next = from;
          for (;;) {
            while (pieces.length < ahead && next < from + toRead) {
              const length = Math.min(readBytes, from + toRead - next);
              pieces.push({ at: next, length, answer: read(next, length) });
              next += length;
            }
            const piece = pieces.shift();
            if (piece === undefined) return;
            let got = 0;
            // a server may return less than requested
            for (
              let bytes = await piece.answer;
              got < piece.length;
              bytes = await read(piece.at + got, piece.length - got)
            ) {
              if (bytes === null || bytes.length === 0) return;
              if (bytes.length > piece.length - got)
                throw new ProtocolFault('sends more bytes than were requested');
              got += bytes.length;
              yield bytes;
              if (got === piece.length) break;
            }
          }
        },
        close: () => close(handle),
      };
    },
  };
}

/** The body of an answer of that type. StatusFault, ProtocolFault for another. */
async function expect(wanted: number, answer: Promise<Answer>): Promise<MessageReader> {
  const { type, body } = await answer;
  if (type === wanted) return body;
  if (type !== types.status) throw new ProtocolFault('answers with an unexpected type of message');
  throw new StatusFault(body.number(), body.text());
}

/** Returns null at the end of a file or of a folder. */
function atEnd(error: unknown): null {
  if (error instanceof StatusFault && error.status === statuses.end) return null;
  throw error;
}

/** Returns the rest of the bytes: the beginning of a message. ProtocolFault for one that is too long. */
function takeMessages(bytes: Uint8Array, take: (type: number, body: MessageReader) => void): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  while (bytes.length - at >= 5) {
    const length = view.getUint32(at);
    if (length < 1 || length > longest) throw new ProtocolFault('sends a message with an invalid length');
    if (bytes.length - at - 4 < length) break;
    take(bytes[at + 4]!, new MessageReader(bytes.subarray(at + 5, at + 4 + length)));
    at += 4 + length;
  }
  return bytes.subarray(at);
}
