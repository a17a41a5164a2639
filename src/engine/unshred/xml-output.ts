/** Text of a document on its way out, in pieces. */
import { escapeText } from './escape.ts';

/** Takes UTF-8; awaiting it is back-pressure. */
export type ByteConsumer = (bytes: Uint8Array<ArrayBuffer>) => Promise<void> | void;

const pieceCharacters = 64 * 1024;
const utf8 = new TextEncoder();

export class XmlOutput {
  /** bytes handed over so far */
  bytes = 0;
  readonly #consume: ByteConsumer;
  #parts = '';
  /** a start tag waits for its `>` */
  #tagOpen = false;

  constructor(consume: ByteConsumer) {
    this.#consume = consume;
  }

  /** `tag` without its closing bracket. */
  start(tag: string): void {
    this.#closeTag();
    this.#parts += tag;
    this.#tagOpen = true;
  }

  end(name: string): void {
    if (this.#tagOpen) this.#parts += '/>';
    else this.#parts += `</${name}>`;
    this.#tagOpen = false;
  }

  text(text: string): void {
    if (text === '') return;
    this.#closeTag();
    this.#parts += escapeText(text);
  }

  /** XML text that stands on its own. */
  markup(content: string): void {
    this.#closeTag();
    this.#parts += content;
  }

  /** Hands over what there is when it is worth it; undefined: nothing to wait for. */
  drain(): Promise<void> | undefined {
    return this.#parts.length < pieceCharacters ? undefined : this.flush();
  }

  async flush(): Promise<void> {
    const bytes = utf8.encode(this.#parts);
    this.#parts = '';
    this.bytes += bytes.length;
    await this.#consume(bytes);
  }

  #closeTag(): void {
    if (this.#tagOpen) this.#parts += '>';
    this.#tagOpen = false;
  }
}
