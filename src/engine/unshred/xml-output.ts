/** Collects the bytes of a document in pieces and passes them to the consumer. */
import type { ContentScope } from './content-scope.ts';
import { inAttribute, inText, longestReference, type ByteEscapes } from './escape.ts';
import { utf8Of } from './rows/values.ts';

/**
 * Receives UTF-8; its promise is the back-pressure. The bytes belong to the consumer until the promise resolves, and are then
 * overwritten.
 */
export type ByteConsumer = (bytes: Uint8Array<ArrayBuffer>) => Promise<void> | void;

const pieceBytes = 64 * 1024;
/** bytes of a value that at least go into the same piece; each may become a reference */
const leastBytes = 64;

const [openBracket, slash, closeBracket, quote, blank, equals] = [0x3c, 0x2f, 0x3e, 0x22, 0x20, 0x3d];

export class XmlOutput {
  readonly #scope: ContentScope;
  /** bytes of the present document so far */
  bytes = 0;
  #consume: ByteConsumer = () => undefined;
  #piece = new Uint8Array(pieceBytes);
  #filled = 0;
  /** pieces that are full */
  #full: Uint8Array<ArrayBuffer>[] = [];
  /** a start tag waits for its `>` */
  #tagOpen = false;
  /** the piece that was passed to the consumer last, and the consumer's promise */
  #given: Uint8Array<ArrayBuffer> | null = null;
  #taking: Promise<void> | null = null;
  /** a piece to be reused */
  #spare: Uint8Array<ArrayBuffer> | null = null;

  /** `scope`: of the names that are written */
  constructor(scope: ContentScope) {
    this.#scope = scope;
  }

  begin(consume: ByteConsumer): void {
    this.#consume = consume;
    this.#scope.reset();
    this.bytes = 0;
    this.#filled = 0;
    this.#full = [];
    this.#tagOpen = false;
    this.#given = null;
    this.#taking = null;
  }

  /** A start tag; attributes may follow it. */
  start(tag: Uint8Array): void {
    const name = this.#scope.isActive ? this.#scope.tag(tag) : tag;
    if (this.#scope.isActive) this.#scope.enter();
    this.#closeTag();
    this.#room(name.length + 1);
    this.#piece[this.#filled++] = openBracket;
    this.#copy(name, 0, name.length);
    this.#tagOpen = true;
  }

  end(tag: Uint8Array): void {
    const name = this.#scope.isActive ? this.#scope.tag(tag) : tag;
    if (this.#scope.isActive) this.#scope.leave();
    this.#room(name.length + 3);
    if (this.#tagOpen) {
      this.#piece[this.#filled++] = slash;
    } else {
      this.#piece[this.#filled++] = openBracket;
      this.#piece[this.#filled++] = slash;
      this.#copy(name, 0, name.length);
    }
    this.#piece[this.#filled++] = closeBracket;
    this.#tagOpen = false;
  }

  /** An attribute of the start tag that is open, its value in `bytes`. */
  attribute(tag: Uint8Array, bytes: Uint8Array, from: number, to: number): void {
    const name = this.#scope.isActive ? this.#scope.tag(tag) : tag;
    this.#room(name.length + 3);
    this.#piece[this.#filled++] = blank;
    this.#copy(name, 0, name.length);
    this.#piece[this.#filled++] = equals;
    this.#piece[this.#filled++] = quote;
    this.#escaped(bytes, from, to, inAttribute);
    this.#room(1);
    this.#piece[this.#filled++] = quote;
  }

  /** Writes attributes into the open start tag as given, each with a blank before it. */
  attributes(markup: string): void {
    if (markup !== '') this.#whole(utf8Of(markup));
  }

  value(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return;
    this.#closeTag();
    this.#escaped(bytes, from, to, inText);
  }

  text(text: string): void {
    const bytes = utf8Of(text);
    this.value(bytes, 0, bytes.length);
  }

  /** Writes self-contained XML text. */
  markup(content: string): void {
    this.#closeTag();
    this.#whole(utf8Of(content));
  }

  /** Does the same as `markup` for a range of `bytes`. */
  markupBytes(bytes: Uint8Array, from: number, to: number): void {
    this.#closeTag();
    this.#whole(bytes.subarray(from, to));
  }

  /** Hands over the pieces that are full; undefined: nothing to wait for. */
  drain(): Promise<void> | undefined {
    return this.#full.length === 0 ? undefined : this.#hand();
  }

  /** Passes all bytes on, and waits until the consumer is ready. */
  async flush(): Promise<void> {
    // the rest of the piece is used for the next document
    if (this.#filled > 0) this.#full.push(this.#piece.slice(0, this.#filled));
    this.#filled = 0;
    await this.#hand();
    await this.#taking;
  }

  /** Passes a piece on. The next one is filled while the consumer handles it. */
  async #hand(): Promise<void> {
    for (const piece of this.#full.splice(0)) {
      await this.#taking;
      if (this.#given?.buffer.byteLength === pieceBytes) this.#spare = new Uint8Array(this.#given.buffer);
      this.#given = piece;
      this.bytes += piece.length;
      this.#taking = this.#consume(piece) ?? null;
      // its fault is reported when the promise is awaited
      this.#taking?.catch(() => undefined);
    }
  }

  #closeTag(): void {
    if (!this.#tagOpen) return;
    this.#tagOpen = false;
    this.#room(1);
    this.#piece[this.#filled++] = closeBracket;
  }

  /** Reserves room for this number of bytes. */
  #room(bytes: number): void {
    if (this.#filled + bytes > this.#piece.length) this.#nextPiece(bytes);
  }

  #nextPiece(bytes: number): void {
    this.#full.push(this.#piece.subarray(0, this.#filled));
    this.#piece = (bytes > pieceBytes ? null : this.#spare) ?? new Uint8Array(Math.max(pieceBytes, bytes));
    this.#spare = null;
    this.#filled = 0;
  }

  #escaped(bytes: Uint8Array, from: number, to: number, { special, references }: ByteEscapes): void {
    for (let at = from; at < to;) {
      const end = Math.min(to, at + this.#roomToEscape(to - at));
      const piece = this.#piece;
      let filled = this.#filled;
      for (; at < end; at += 1) {
        const byte = bytes[at]!;
        if (special[byte] === 0) piece[filled++] = byte;
        else for (const one of references[byte]!) piece[filled++] = one;
      }
      this.#filled = filled;
    }
  }

  /** Returns the number of bytes, at least one, that fit into the piece even if all of them are escaped. */
  #roomToEscape(bytes: number): number {
    if (bytes * longestReference <= this.#piece.length - this.#filled) return bytes;
    this.#room(Math.min(bytes, leastBytes) * longestReference);
    return Math.floor((this.#piece.length - this.#filled) / longestReference);
  }

  /** There is room. */
  #copy(bytes: Uint8Array, from: number, to: number): void {
    const piece = this.#piece;
    let filled = this.#filled;
    for (let at = from; at < to; at += 1) piece[filled++] = bytes[at]!;
    this.#filled = filled;
  }

  #whole(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#piece.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }
}
