/** Reads tar archives as a stream: a small member is whole in one window, with the members before and after it. */
import { smallFileBytes } from '../open-file.ts';
import {
  blockBytes,
  readPaxRecords,
  readTarHeader,
  textIn,
  type PaxRecords,
  type TarHeader,
} from './tar-header.ts';

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
