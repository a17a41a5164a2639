/**
 * Where a document may be cut into ranges, as `createRowCutFinder` finds it, but by tags alone and several times as fast: nothing is
 * checked, as who reads the ranges checks all of them. What is not well-formed before a cut is met in a range before that cut.
 */
import { LocationCounter } from '../../xml/text-location.ts';
import { GREATER, LESS, QUOTE, APOSTROPHE } from '../../xml/characters.ts';
import { utf8Text } from '../../xml/utf8.ts';
import { findRowsWasm } from './kernel/find-rows-wasm.ts';
import * as layout from './kernel/layout.ts';
import type { RowElementName } from './elements.ts';
import { attributesOf, firstPiece, placePiece, type PieceCut, type PieceOfRows } from './pieces.ts';
import type { RowCut } from './ranges.ts';

export interface QuickCuts {
  /** False: the document needs more than its tags to be seen; nothing more is to be written. */
  write(chunk: Uint8Array): boolean;
  /** Null: the document is not whole, or has no element. */
  end(): { readonly cuts: readonly RowCut[]; readonly prologBytes: number } | null;
}

/** What is read of a document, where others read the rest. */
export interface PieceBounds {
  /** where it begins: 0, or at a row element */
  readonly from: number;
  /** it ends before the first row element, but its own first, that begins there or behind */
  readonly until: number;
  /** start tags of the elements around, outermost first, as far as they are known */
  readonly outer: readonly string[];
}

export interface QuickPiece {
  /** As of `QuickCuts`. */
  write(chunk: Uint8Array): boolean;
  /** the piece has ended: nothing more is to be written */
  readonly isDone: boolean;
  /** Null: the document has ended, and is not whole. */
  end(): PieceOfRows | null;
}

interface Exports {
  findRows(): number;
  countLineFeeds(from: number, to: number): number;
}

const PAGE_BYTES = 65_536;
const stops = Uint8Array.of(LESS, GREATER, QUOTE, APOSTROPHE);

/**
 * `rangeBytes`: of a range, but for the rest of the row that it ends in; `markBytes`: of the file, which are not written. Null:
 * WebAssembly is refused, or the name is longer than any.
 */
export function createQuickCuts(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
): QuickCuts | null {
  const bounds = { from: 0, until: Infinity, outer: [] };
  const reader = createQuickPiece(rowTag, rangeBytes, markBytes, bounds);
  if (reader === null) return null;
  return {
    write: (chunk) => reader.write(chunk),
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0) return null;
      return { cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}

/** As `createQuickCuts`: what a piece says of the cuts that lie in it. `markBytes`: of one that begins at 0. */
export function createQuickPiece(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
  bounds: PieceBounds,
): QuickPiece | null {
  if (new TextEncoder().encode(rowTag.localName).length > layout.MAX_NAME_BYTES) return null;
  const pages = Math.ceil((layout.WINDOW_AT + layout.WINDOW_BYTES + layout.MARGIN_BYTES) / PAGE_BYTES);
  try {
    const wasm = Uint8Array.from(atob(findRowsWasm), (character) => character.charCodeAt(0));
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), { env: { memory } });
    return new TagReader(exports as unknown as Exports, memory, rowTag, rangeBytes, { ...bounds, markBytes });
  } catch {
    return null;
  }
}

class TagReader implements QuickPiece {
  isDone = false;
  readonly #exports: Exports;
  readonly #control: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #window: Uint8Array;
  readonly #words: Uint32Array;
  readonly #places: LocationCounter;
  readonly #namespaceUri: string | null;
  readonly #rangeBytes: number;
  readonly #bounds: PieceBounds;
  /** of the elements around the beginning, how many have ended; start tags of those that have begun since */
  #ended = 0;
  readonly #begun: string[] = [];
  /** the elements around the beginning have been asked for */
  #asksOuter = false;
  readonly #cuts: PieceCut[] = [];
  /** bytes in the window, and where it begins in the file */
  #filled = 0;
  #offset: number;
  /** in the file: where the next cut is wanted */
  #wanted: number;
  #prologBytes = -1;

  constructor(
    exports: Exports,
    { buffer }: WebAssembly.Memory,
    { namespaceUri, localName }: RowElementName,
    rangeBytes: number,
    { markBytes, ...bounds }: PieceBounds & { readonly markBytes: number },
  ) {
    this.#bounds = bounds;
    this.#exports = exports;
    this.#control = new Int32Array(buffer, 0, layout.CONTROL_SLOTS);
    this.#bytes = new Uint8Array(buffer);
    this.#window = new Uint8Array(buffer, layout.WINDOW_AT, layout.WINDOW_BYTES);
    this.#words = new Uint32Array(buffer, layout.WINDOW_AT, layout.WINDOW_BYTES / 4);
    this.#control[layout.NAME_BYTES] = this.#put(localName, layout.NAME_AT);
    this.#control[layout.NAMESPACED] = namespaceUri === null ? 0 : 1;
    this.#places = new LocationCounter((_, count) =>
      exports.countLineFeeds(layout.WINDOW_AT, layout.WINDOW_AT + count),
    );
    this.#offset = bounds.from + (bounds.from === 0 ? markBytes : 0);
    this.#places.skip(this.#offset);
    this.#namespaceUri = namespaceUri;
    this.#rangeBytes = rangeBytes;
    this.#wanted = (Math.floor(bounds.from / rangeBytes) + 1) * rangeBytes;
  }

  write(chunk: Uint8Array): boolean {
    for (let at = 0; at < chunk.length && !this.isDone;) {
      const piece = chunk.subarray(at, at + layout.WINDOW_BYTES - this.#filled);
      // a tag of half a megabyte
      if (piece.length === 0) return false;
      this.#window.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      if (!this.#look()) return false;
    }
    return true;
  }

  end(): PieceOfRows | null {
    const control = this.#control;
    const isWhole =
      this.#filled === 0 && control[layout.DEPTH] === 0 && control[layout.INSIDE] === layout.IN_CONTENT;
    if (!this.isDone && !isWhole) return null;
    const { from, outer } = this.#bounds;
    return {
      from,
      outer: this.#asksOuter ? outer : null,
      prologBytes: this.#prologBytes,
      cuts: this.#cuts,
      end: this.isDone ? null : this.#tagsAround(),
    };
  }

  #tagsAround(): { readonly ended: number; readonly begun: readonly string[] } {
    return { ended: this.#ended, begun: [...this.#begun] };
  }

  #look(): boolean {
    const control = this.#control;
    const end = layout.WINDOW_AT + this.#filled;
    for (let at = end; at < end + layout.MARGIN_BYTES; at += stops.length) this.#bytes.set(stops, at);
    control[layout.POS] = layout.WINDOW_AT;
    control[layout.END] = end;
    for (;;) {
      const isProlog = this.#prologBytes < 0 && this.#bounds.from === 0;
      const wanted = isProlog ? 0 : this.#wanted - this.#offset;
      control[layout.WANTED] = Math.min(Math.max(0, wanted), layout.WINDOW_BYTES) + layout.WINDOW_AT;
      switch (this.#exports.findRows()) {
        case layout.EXIT_OPEN:
          this.#meet();
          this.#begun.push(this.#tag());
          this.#forget();
          break;
        case layout.EXIT_CLOSE:
          this.#forget();
          if (this.#begun.pop() === undefined) this.#ended += 1;
          break;
        case layout.EXIT_ROW:
          this.#meet();
          if ((this.#cuts.at(-1)?.number ?? 1) === control[layout.NUMBER]) break;
          this.#cut(control[layout.TAG]! - layout.WINDOW_AT);
          if (this.isDone) return true;
          break;
        case layout.EXIT_ASK:
          if (!this.#judge(this.#tag())) return false;
          break;
        case layout.EXIT_MORE:
          this.#keepFrom(control[layout.POS]! - layout.WINDOW_AT);
          return true;
        default:
          return false;
      }
    }
  }

  /** An element: the root, if it is the first. */
  #meet(): void {
    if (this.#prologBytes < 0 && this.#bounds.from === 0)
      this.#prologBytes = this.#offset + this.#control[layout.TAG]! - layout.WINDOW_AT;
  }

  #tag(): string {
    return utf8Text(this.#bytes.subarray(this.#control[layout.TAG], this.#control[layout.TAG_END]));
  }

  /** What a name means may be another thing when the last element around begins or ends. */
  #forget(): void {
    if ((this.#begun.at(-1) ?? this.#outer().at(-1))?.includes('xmlns') === true)
      this.#control[layout.KNOWN_BYTES] = 0;
  }

  /** Whether a tag of rows' local name is a row's; false: that is not to be seen. */
  #judge(tag: string): boolean {
    const name = /^<([^\s/>]+)/.exec(tag)![1]!;
    const prefix = name.includes(':') ? name.slice(0, name.indexOf(':')) : '';
    const declaration = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
    let uri: string | undefined;
    this.#asksOuter = true;
    for (const declaring of [...this.#outer(), ...this.#begun, tag])
      for (const [declared, value] of attributesOf(declaring)) if (declared === declaration) uri = value;
    // references and white space in a value are for others to read, and so is what nobody has declared
    if (uri === undefined ? prefix !== '' : /[&\s]/.test(uri)) return false;
    const isRow = (uri ?? '') === this.#namespaceUri;
    // what is known is not asked for again
    if (isRow && !tag.includes('xmlns') && name.length * 3 <= layout.MAX_NAME_BYTES)
      this.#control[layout.KNOWN_BYTES] = this.#put(name, layout.KNOWN_AT);
    else this.#control[layout.VERDICT] = isRow ? layout.IS_ROW : layout.IS_OTHER;
    return true;
  }

  /** Start tags of the elements around the beginning that have not ended. */
  #outer(): readonly string[] {
    const { outer } = this.#bounds;
    return outer.slice(0, Math.max(0, outer.length - this.#ended));
  }

  /** Answers how many bytes the text has. */
  #put(text: string, at: number): number {
    return new TextEncoder().encodeInto(text, this.#bytes.subarray(at, at + layout.MAX_NAME_BYTES)).written;
  }

  #cut(at: number): void {
    const location = this.#places.locate(this.#window, at, this.#words);
    this.#cuts.push({ location, number: this.#control[layout.NUMBER]!, ...this.#tagsAround() });
    while (this.#wanted <= location.offset) this.#wanted += this.#rangeBytes;
    this.isDone = location.offset >= this.#bounds.until;
  }

  /** The window begins there from now on. */
  #keepFrom(at: number): void {
    this.#places.advance(this.#window, this.#words, at);
    this.#window.copyWithin(0, at, this.#filled);
    this.#filled -= at;
    this.#offset += at;
  }
}
