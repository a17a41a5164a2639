/**
 * Short forms of long values, whose pieces are stored once. JavaScript engines use the length of a long string (V8: of more than 16,383
 * characters) as its hash, so many such pieces of one length in one map would take quadratic time.
 */

/** characters of a piece */
const pieceLength = 16_000;

/** Begins the form of a long value: no character of XML, so that no value begins so. */
const longMark = '\u{FFFF}';

export class ShortKeys {
  /** characters of the pieces that are held */
  held = 0;
  readonly #pieces = new Map<string, number>();

  /** The value itself, unless it is long; equal for equal values alone, until `clear`. */
  of(value: string): string {
    if (value.length <= pieceLength) return value;
    const ids: number[] = [];
    for (let from = 0; from < value.length; from += pieceLength) {
      const piece = value.slice(from, from + pieceLength);
      let id = this.#pieces.get(piece);
      if (id === undefined) {
        id = this.#pieces.size;
        this.#pieces.set(piece, id);
        this.held += piece.length;
      }
      ids.push(id);
    }
    return longMark + ids.join(' ');
  }

  clear(): void {
    this.#pieces.clear();
    this.held = 0;
  }
}
