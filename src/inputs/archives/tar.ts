/** Reads tar archives as a stream: a small member is whole in one window, with the members before and after it. */
import { smallFileBytes } from '../open-file.ts';

const windowBytes = 512 * 1024;
/** limit for the extension records in front of a member: names are far shorter */
const maxExtensionBytes = 4 * 1024 * 1024;

/** Types of the extension headers that precede a member and describe it. */
const extensions: ReadonlySet<string> = new Set(['x', 'g', 'L', 'N', 'K']);

export interface TarEntry {
  readonly header: TarHeader;
  /** the content if it is small, valid until more is read; null: read it with `contents` */
  readonly whole: Uint8Array | null;
}

export class TarReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #window: Buffer = Buffer.allocUnsafe(windowBytes);
  /** start and end of the bytes in the window that have been read but not parsed */
  #at = 0;
  #end = 0;
  /** the part of the last chunk that did not fit into the window */
  #rest: Uint8Array = new Uint8Array(0);
  /** bytes that have to be in the window for the next step */
  #needed = 1;
  /** for a large current member: remaining bytes of content, and bytes of padding to whole blocks */
  #content = 0;
  #padding = 0;
  #globals: PaxRecords | null = null;
  #records: PaxRecords | null = null;
  #longName: string | null = null;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next member, or null if more bytes must be read first. The rest of the previous member is skipped. */
  next(): TarEntry | null {
    for (;;) {
      this.#at += this.#takeContent(this.#content + this.#padding);
      if (this.#content + this.#padding > 0) return this.#needs(1);
      if (this.#end - this.#at < blockBytes) return this.#needs(blockBytes);
      const header = readTarHeader(this.#window, this.#at);
      if (header === null) this.#at += blockBytes;
      else if (!extensions.has(header.flag)) return this.#member(header);
      else if (!this.#extend(header)) return null;
    }
  }

  /** Yields the rest of the current member's content as it arrives. A chunk is valid until the next is requested. */
  async *contents(): AsyncIterable<Uint8Array> {
    while (this.#content > 0) {
      const from = this.#at;
      this.#at += this.#takeContent(this.#content);
      if (this.#at > from) yield this.#window.subarray(from, this.#at);
      else if (!(await this.fill())) return;
    }
  }

  /** Reads more; false: there is no more. Error: the archive ends within a member. */
  async fill(): Promise<boolean> {
    this.#window.copyWithin(0, this.#at, this.#end);
    this.#end -= this.#at;
    this.#at = 0;
    if (this.#needed > this.#window.length) {
      const larger = Buffer.allocUnsafe(this.#needed);
      this.#window.copy(larger, 0, 0, this.#end);
      this.#window = larger;
    }
    const had = this.#end;
    do {
      if (this.#rest.length === 0) {
        const next = await this.#source.next();
        if (next.done === true) break;
        this.#rest = next.value;
      }
      const taken = Math.min(this.#rest.length, this.#window.length - this.#end);
      this.#window.set(this.#rest.subarray(0, taken), this.#end);
      this.#rest = this.#rest.subarray(taken);
      this.#end += taken;
    } while (this.#end < this.#needed);
    if (this.#end >= this.#needed && this.#end > had) return true;
    const isOpen = this.#content + this.#padding > 0 || this.#records !== null || this.#longName !== null;
    if (this.#end > 0 || isOpen) throw new Error('it ends within a member');
    return false;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  /** Marks up to `most` bytes of content and padding as read, as far as they are in the window; returns their number. */
  #takeContent(most: number): number {
    const taken = Math.min(most, this.#end - this.#at);
    const content = Math.min(taken, this.#content);
    this.#content -= content;
    this.#padding -= taken - content;
    return taken;
  }

  #needs(bytes: number): null {
    this.#needed = bytes;
    return null;
  }

  #member(header: TarHeader): TarEntry | null {
    const records = this.#records ?? this.#globals;
    // a directory has no content, whatever it says
    const size = header.flag === '5' ? 0 : Number(records?.['size'] || header.size);
    if (!(size >= 0 && Number.isSafeInteger(size))) throw new Error('a header has no size');
    const padded = size + paddingOf(size);
    const isSmall = size <= smallFileBytes;
    const needed = blockBytes + (isSmall ? padded : 0);
    if (this.#end - this.#at < needed) return this.#needs(needed);
    const from = this.#at + blockBytes;
    this.#at += needed;
    this.#content = isSmall ? 0 : size;
    this.#padding = isSmall ? 0 : padded - size;
    const name = records?.['path'] || this.#longName || header.name;
    this.#records = null;
    this.#longName = null;
    this.#needed = 1;
    return {
      header: { ...header, name, size, pax: records },
      whole: isSmall ? this.#window.subarray(from, from + size) : null,
    };
  }

  /** Reads an extension header in front of a member. Returns false if it is not in the window yet. */
  #extend({ flag, size }: TarHeader): boolean {
    if (!(size <= maxExtensionBytes)) throw new Error('a header in front of a member is too large');
    const needed = blockBytes + size + paddingOf(size);
    if (this.#end - this.#at < needed) {
      this.#needed = needed;
      return false;
    }
    const from = this.#at + blockBytes;
    const bytes = this.#window.subarray(from, from + size);
    this.#at += needed;
    if (flag === 'g') this.#globals = readPaxRecords(bytes);
    else if (flag === 'x') this.#records = { ...this.#globals, ...readPaxRecords(bytes) };
    // K is the name that a link leads to, and links are refused
    else if (flag !== 'K') this.#longName = textIn(bytes, 0, bytes.length);
    return true;
  }
}

function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

// Headers of members of tar archives (POSIX.1-2001, "pax Interchange Format" and "ustar Interchange Format"; GNU tar manual, "Basic Tar
// Format").

export const blockBytes = 512;

const nameBytes = 100;
const sizeAt = 124;
const sumAt = 148;
const sumBytes = 8;
const flagAt = 156;
const magicAt = 257;
const ustarMagic = Buffer.from('ustar\0');
const gnuMagic = Buffer.from('ustar  \0');
const prefixAt = 345;
const prefixBytes = 155;
const space = 0x20;
/** first byte of a number that is no octal digits but a binary one (GNU tar) */
const binary = 0x80;

export interface TarHeader {
  name: string;
  /** the type flag, one character; a file's is `0`, a directory's `5` */
  readonly flag: string;
  size: number;
  /** records of the pax header in front of it and of the global ones; null: no pax header precedes it */
  pax: PaxRecords | null;
}

export type PaxRecords = Readonly<Record<string, string>>;

/** Returns null if the block is empty, as at the end of an archive. */
export function readTarHeader(bytes: Buffer, at: number): TarHeader | null {
  const sum = sumOf(bytes, at);
  if (sum === sumBytes * space) return null;
  if (sum !== numberIn(bytes, at + sumAt, sumBytes))
    throw new Error('a header has a wrong checksum: the archive is damaged, or it is not a tar archive');
  const name = textIn(bytes, at, nameBytes);
  const flag = bytes[at + flagAt] === 0 ? '0' : String.fromCharCode(bytes[at + flagAt]!);
  const isUstar = holds(bytes, at + magicAt, ustarMagic);
  if (!isUstar && !holds(bytes, at + magicAt, gnuMagic))
    throw new Error('a header is of neither the ustar nor the GNU tar format');
  const hasPrefix = isUstar && bytes[at + prefixAt] !== 0;
  return {
    name: hasPrefix ? `${textIn(bytes, at + prefixAt, prefixBytes)}/${name}` : name,
    // archives of old mark directories by their names
    flag: flag === '0' && name.endsWith('/') ? '5' : flag,
    size: numberIn(bytes, at + sizeAt, 12),
    pax: null,
  };
}

/** Records of a pax header: `LENGTH KEY=VALUE` and a line end, the length counting its own digits. */
export function readPaxRecords(bytes: Buffer): PaxRecords {
  const records: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.indexOf(space, at);
    const length = digits < 0 ? 0 : Number(bytes.toString('latin1', at, digits));
    const equals = bytes.indexOf('=', digits);
    if (!(length > 0) || equals < 0 || equals >= at + length) break;
    records[bytes.toString('utf8', digits + 1, equals)] = bytes.toString('utf8', equals + 1, at + length - 1);
    at += length;
  }
  return records;
}

/** Text of a field, which ends with it or with its first NUL. */
export function textIn(bytes: Buffer, at: number, length: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString('utf8', at, end < 0 || end > at + length ? at + length : end);
}

function holds(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i += 1) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** Sums all bytes of a header, with those of the sum itself counted as spaces. */
function sumOf(bytes: Buffer, at: number): number {
  let sum = sumBytes * space;
  for (let i = at; i < at + sumAt; i += 1) sum += bytes[i]!;
  for (let i = at + sumAt + sumBytes; i < at + blockBytes; i += 1) sum += bytes[i]!;
  return sum;
}

/** Parses octal digits, or a binary number if it is too large for the digits. Returns NaN if the field holds neither. */
function numberIn(bytes: Buffer, at: number, length: number): number {
  const end = at + length;
  let value = 0;
  if (bytes[at] === binary) {
    for (let i = at + 1; i < end; i += 1) value = value * 256 + bytes[i]!;
    return value;
  }
  let i = at;
  while (i < end && (bytes[i] === space || bytes[i] === 0)) i += 1;
  for (; i < end; i += 1) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 7) break;
    value = value * 8 + digit;
  }
  return i === end || bytes[i] === 0 || bytes[i] === space ? value : Number.NaN;
}
