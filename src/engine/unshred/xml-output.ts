/** Text of a document on its way out, in pieces. */
import { escapeText } from './escape.ts';

/** Takes UTF-8; awaiting it is back-pressure. */
export type ByteConsumer = (bytes: Uint8Array<ArrayBuffer>) => Promise<void> | void;

const pieceBytes = 64 * 1024;
/** Text is encoded while its parts are still near: parts of a long one lie scattered over the memory. */
const textCharacters = 2 * 1024;
const utf8 = new TextEncoder();

export class XmlOutput {
  /** bytes handed over so far */
  bytes = 0;
  readonly #consume: ByteConsumer;
  #text = '';
  #piece = new Uint8Array(pieceBytes);
  #filled = 0;
  /** a start tag waits for its `>` */
  #tagOpen = false;

  constructor(consume: ByteConsumer) {
    this.#consume = consume;
  }

  /** `tag` without its closing bracket. */
  start(tag: string): void {
    this.#closeTag();
    this.#text += tag;
    this.#tagOpen = true;
  }

  end(name: string): void {
    if (this.#tagOpen) this.#text += '/>';
    else this.#text += `</${name}>`;
    this.#tagOpen = false;
  }

  text(text: string): void {
    if (text === '') return;
    this.#closeTag();
    this.#text += escapeText(text);
  }

  /** XML text that stands on its own. */
  markup(content: string): void {
    this.#closeTag();
    this.#text += content;
  }

  /** Hands over what there is when it is worth it; undefined: nothing to wait for. */
  drain(): Promise<void> | undefined {
    if (this.#text.length < textCharacters) return undefined;
    // at most three bytes for a character of UTF-16
    if (this.#filled + this.#text.length * 3 > pieceBytes) return this.flush();
    this.#filled += utf8.encodeInto(this.#text, this.#piece.subarray(this.#filled)).written;
    this.#text = '';
    return undefined;
  }

  async flush(): Promise<void> {
    const filled = this.#piece.subarray(0, this.#filled);
    const text = this.#text;
    this.#text = '';
    this.#piece = new Uint8Array(pieceBytes);
    this.#filled = 0;
    if (filled.length > 0) await this.#hand(filled);
    if (text !== '') await this.#hand(utf8.encode(text));
  }

  async #hand(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.bytes += bytes.length;
    await this.#consume(bytes);
  }

  #closeTag(): void {
    if (this.#tagOpen) this.#text += '>';
    this.#tagOpen = false;
  }
}
