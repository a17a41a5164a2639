/**
 * Finds the places at which a document can be cut, by its tags alone. Reads from tag to tag, and skips rows with a kernel in WebAssembly.
 */
import { compileModule } from '../../compile-module.ts';
import { isSameName } from '../../model/source-model.ts';
import { LocationCounter } from '../../xml/text-location.ts';
import { GREATER, LESS, QUOTE, APOSTROPHE } from '../../xml/characters.ts';
import { utf8Text } from '../../xml/utf8.ts';
import { findRowsWasm } from './kernel/find-rows-wasm.ts';
import * as layout from './kernel/layout.ts';
import type { RowElementName } from './elements.ts';
import type { LevelAround, LevelHead, RowLevel } from './level.ts';
import {
  attributesOf,
  type PieceCut,
  type PieceOfRows,
  firstPiece,
  placePiece,
  rowCutOf,
  placeOfCut,
} from './pieces.ts';
import type { RowCut } from './ranges.ts';

/** The bounds of the piece that is read when other readers read the rest of the document. */
interface PieceBounds {
  /** start offset: 0, or that of a row element */
  readonly from: number;
  /** the piece ends before the first row element at or after this offset, not counting the one that the piece begins with */
  readonly until: number;
  /** known start tags of the elements around, outermost first */
  readonly outer: readonly string[];
}

/** Defines the rows: elements of a name, or the elements of a level. */
interface Looking {
  readonly rowTag: RowElementName | null;
  readonly level: RowLevel | null;
  /** state of the level, if the piece begins within it; null: the piece begins before the level */
  readonly around: LevelAround | null;
  /** bytes of a range, not counting the rest of its last row */
  readonly rangeBytes: number;
}

interface QuickPiece {
  /** See `QuickCuts`. */
  write(chunk: Uint8Array): boolean;
  /** the piece has ended: nothing more is to be written */
  readonly isDone: boolean;
  /** cuts found so far */
  readonly cuts: readonly PieceCut[];
  /** See `PieceOfRows`. */
  readonly prologBytes: number;
  /** Null: the document has ended but is incomplete. */
  end(): PieceOfRows | null;
}

interface Exports {
  findRows(): number;
  countLineFeeds(from: number, to: number): number;
}

const PAGE_BYTES = 65_536;
/** most bytes of a name that the kernel keeps */
const longestKnown = layout.MAX_NAME_BYTES - 2;
const stops = Uint8Array.of(LESS, GREATER, QUOTE, APOSTROPHE);

/**
 * `markBytes`: bytes of the file's byte order mark, if the piece begins with it. Returns null if WebAssembly is not available, or if the
 * name is too long.
 */
function createTagReader(looking: Looking, markBytes: number, bounds: PieceBounds): TagReader | null {
  if (new TextEncoder().encode(looking.rowTag?.localName).length > layout.MAX_NAME_BYTES) return null;
  const pages = Math.ceil((layout.WINDOW_AT + layout.WINDOW_BYTES + layout.MARGIN_BYTES) / PAGE_BYTES);
  try {
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const { exports } = new WebAssembly.Instance(compileModule(findRowsWasm), { env: { memory } });
    return new TagReader(exports as unknown as Exports, memory, looking, { ...bounds, markBytes });
  } catch {
    return null;
  }
}

/** Returns the key of an element's path: its depth and local name. Elements with different keys have different paths. */
function placeOf(tag: string, depth: number): string {
  return `${depth} ${/^<(?:[^\s/>:]+:)?([^\s/>]+)/.exec(tag)![1]}`;
}

/** elements around rows of a level: none of theirs is open yet, and none is looked for any more */
const NOT_YET = -1;
const NO_MORE = -2;

class TagReader implements QuickPiece {
  isDone = false;
  /** the row of the level after which there are only rows; null: not found yet */
  #head: LevelHead | null = null;

  /** elements around the rows are the only ones at their places, and all of the document was looked at for that */
  get #isSole(): boolean {
    return !this.isDone && [...this.#met.values()].every((count) => count === 1);
  }

  /** The state of the level that the reader is in, or null if it is in none. */
  get around(): LevelAround | null {
    return this.#levelDepth < 0
      ? null
      : { tags: this.#outerAndBegun().slice(0, this.#levelDepth), met: [...this.#met] };
  }

  readonly #exports: Exports;
  readonly #control: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #window: Uint8Array;
  readonly #words: Uint32Array;
  readonly #places: LocationCounter;
  readonly #namespaceUri: string | null;
  readonly #level: RowLevel | null;
  /** number of elements outside of rows, by place; once the level is found, only for the places of elements around it */
  #met: Map<string, number> = new Map();
  /** the next row shows that a run of text beside the rows has ended */
  #endsText = false;
  /** offset in the file at which the search ends, once the rows have ended */
  #tailEnd = Infinity;
  /** number of elements around rows of the level */
  #levelDepth = NOT_YET;
  readonly #rangeBytes: number;
  readonly #bounds: PieceBounds;
  /** number of the elements around the beginning that have ended, and start tags of those that have begun since */
  #ended = 0;
  readonly #begun: string[] = [];
  /** the elements around the beginning have been asked for */
  #asksOuter = false;
  readonly #cuts: PieceCut[] = [];
  /** bytes in the window, and the window's offset in the file */
  #filled = 0;
  #offset: number;
  /** offset in the file from which the next cut is wanted */
  #wanted: number;
  #prologBytes = -1;

  constructor(
    exports: Exports,
    { buffer }: WebAssembly.Memory,
    { rowTag, level, around, rangeBytes }: Looking,
    { markBytes, ...bounds }: PieceBounds & { readonly markBytes: number },
  ) {
    this.#bounds = bounds;
    this.#exports = exports;
    this.#control = new Int32Array(buffer, 0, layout.CONTROL_SLOTS);
    this.#bytes = new Uint8Array(buffer);
    this.#window = new Uint8Array(buffer, layout.WINDOW_AT, layout.WINDOW_BYTES);
    this.#words = new Uint32Array(buffer, layout.WINDOW_AT, layout.WINDOW_BYTES / 4);
    this.#control[layout.NAME_BYTES] =
      rowTag === null ? layout.NAMELESS : this.#put(rowTag.localName, layout.NAME_AT);
    this.#control[layout.NAMESPACED] = (rowTag?.namespaceUri ?? null) === null ? 0 : 1;
    this.#places = new LocationCounter((_, from, to) =>
      exports.countLineFeeds(layout.WINDOW_AT + from, layout.WINDOW_AT + to),
    );
    this.#offset = bounds.from + (bounds.from === 0 ? markBytes : 0);
    this.#places.skip(this.#offset);
    this.#namespaceUri = rowTag?.namespaceUri ?? null;
    this.#level = level;
    if (around !== null) {
      this.#levelDepth = around.tags.length;
      this.#met = new Map(around.met);
      this.#head = { location: { line: 1, column: 1, offset: bounds.from }, number: 1 };
    }
    this.#rangeBytes = rangeBytes;
    this.#wanted = (Math.floor(bounds.from / rangeBytes) + 1) * rangeBytes;
  }

  get cuts(): readonly PieceCut[] {
    return this.#cuts;
  }

  get prologBytes(): number {
    return this.#prologBytes;
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
      if (this.#offset >= this.#tailEnd) this.isDone = true;
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
      ...(this.#level === null
        ? {}
        : { level: { head: this.#head, isSole: this.#isSole, hasEnded: this.#levelDepth === NO_MORE } }),
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
      const isHead = this.#level !== null && this.#head === null;
      const wanted = isProlog || isHead ? 0 : this.#wanted - this.#offset;
      control[layout.WANTED] = Math.min(Math.max(0, wanted), layout.WINDOW_BYTES) + layout.WINDOW_AT;
      control[layout.AT_LEVEL] = this.#depth === this.#levelDepth ? 1 : 0;
      switch (this.#exports.findRows()) {
        case layout.EXIT_OPEN:
          this.#meet();
          if (this.#level !== null) this.#note(this.#tag());
          this.#begun.push(this.#tag());
          if (this.#level?.offset === this.#offset + control[layout.TAG]! - layout.WINDOW_AT)
            this.#meetLevel();
          this.#forget();
          break;
        case layout.EXIT_CLOSE:
          this.#forget();
          if (this.#begun.pop() === undefined) this.#ended += 1;
          if (this.#depth < this.#levelDepth) this.#leaveLevel();
          break;
        case layout.EXIT_EMPTY:
          this.#note(this.#tag());
          break;
        case layout.EXIT_TEXT:
          this.#endsText = true;
          this.#interrupt();
          break;
        case layout.EXIT_ROW:
          this.#meet();
          if (isHead) {
            if (!this.#endsText) this.#begin(control[layout.TAG]! - layout.WINDOW_AT);
            this.#endsText = false;
            break;
          }
          if ((this.#cuts.at(-1)?.number ?? 1) === control[layout.NUMBER]) break;
          this.#cut(control[layout.TAG]! - layout.WINDOW_AT);
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
      if (this.isDone) return true;
    }
  }

  /** The element around the rows has begun. */
  #meetLevel(): void {
    this.#levelDepth = this.#begun.length;
    const around = this.#begun.map((tag, depth) => placeOf(tag, depth));
    for (const place of this.#met.keys()) if (!around.includes(place)) this.#met.delete(place);
  }

  /** An element outside of rows begins. */
  #note(tag: string): void {
    const place = placeOf(tag, this.#depth);
    const count = this.#met.get(place);
    // after the rows, it only matters whether an element has the name of one around the rows
    if (count !== undefined || this.#levelDepth === NOT_YET) this.#met.set(place, (count ?? 0) + 1);
  }

  /** The first row from which on there are rows alone. */
  #begin(at: number): void {
    const location = this.#places.locate(this.#window, at, this.#words);
    this.#head = { location, number: this.#control[layout.NUMBER]! };
  }

  /** Handles content other than rows at their level. */
  #interrupt(): void {
    const { headBytes } = this.#level!;
    if (this.#offset + this.#control[layout.POS]! - layout.WINDOW_AT > headBytes) this.#leaveLevel();
    else {
      this.#head = null;
      this.#cuts.length = 0;
    }
  }

  /** Leaves the level: the content after it is not cut. */
  #leaveLevel(): void {
    this.#levelDepth = NO_MORE;
    this.#tailEnd = this.#offset + this.#level!.tailBytes;
    this.isDone = this.#level!.tailBytes === 0;
  }

  /** An element: the root, if it is the first. */
  #meet(): void {
    if (this.#prologBytes < 0 && this.#bounds.from === 0)
      this.#prologBytes = this.#offset + this.#control[layout.TAG]! - layout.WINDOW_AT;
  }

  #tag(): string {
    return utf8Text(this.#bytes.subarray(this.#control[layout.TAG], this.#control[layout.TAG_END]));
  }

  /** Forgets the known name, because its meaning may change when the last element around begins or ends. */
  #forget(): void {
    if ((this.#begun.at(-1) ?? this.#outer().at(-1))?.includes('xmlns') === true)
      this.#control[layout.KNOWN_BYTES] = 0;
  }

  /** True if a tag with the local name of rows can be judged; false: the tags do not show if it is a row's. */
  #judge(tag: string): boolean {
    const name = /^<([^\s/>]+)/.exec(tag)![1]!;
    const prefix = name.includes(':') ? name.slice(0, name.indexOf(':')) : '';
    const declaration = prefix === '' ? 'xmlns' : `xmlns:${prefix}`;
    let uri: string | undefined;
    this.#asksOuter = true;
    for (const declaring of [...this.#outerAndBegun(), tag])
      for (const [declared, value] of attributesOf(declaring)) if (declared === declaration) uri = value;
    // this reader does not resolve references, white space in a value, or undeclared prefixes
    if (uri === undefined ? prefix !== '' : /[&\s]/.test(uri)) return false;
    const namespaceUri = uri ?? '';
    const localName = prefix === '' ? name : name.slice(prefix.length + 1);
    const isRow =
      this.#level === null
        ? namespaceUri === this.#namespaceUri
        : !this.#level.folded.some((name) => isSameName(name, { namespaceUri, localName }));
    if (this.#level !== null && !isRow) this.#interrupt();
    // the kernel does not ask again about a known name
    if (isRow && !tag.includes('xmlns') && name.length * 3 <= longestKnown) this.#know(name);
    else this.#control[layout.VERDICT] = isRow ? layout.IS_ROW : layout.IS_OTHER;
    return true;
  }

  /** Start tags of the elements around the beginning that have not ended. */
  #outer(): readonly string[] {
    const { outer } = this.#bounds;
    return outer.slice(0, Math.max(0, outer.length - this.#ended));
  }

  #outerAndBegun(): readonly string[] {
    return [...this.#outer(), ...this.#begun];
  }

  /** The number of known open elements outside of rows. */
  get #depth(): number {
    return Math.max(0, this.#bounds.outer.length - this.#ended) + this.#begun.length;
  }

  /** The kernel need not ask for that name any more. */
  #know(name: string): void {
    const known = this.#control[layout.KNOWN_BYTES]!;
    // when there is no room, it is asked again for all of them
    const at = layout.KNOWN_AT + (known + 2 + name.length * 3 > layout.MAX_NAME_BYTES ? 0 : known);
    const bytes = this.#put(name, at + 2);
    this.#bytes[at] = bytes & 255;
    this.#bytes[at + 1] = bytes >> 8;
    this.#control[layout.KNOWN_BYTES] = at + 2 + bytes - layout.KNOWN_AT;
  }

  /** Writes a text. Returns the number of its bytes. */
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

// Cuts of a document that stays one document: before the elements of a level, whatever their names.

/** Rows at a level, each of which is but a place in its document. */
export interface LevelCuts {
  /** the first place from which on there are rows alone, up to the last cut */
  readonly head: LevelHead;
  readonly cuts: readonly RowCut[];
  readonly prologBytes: number;
  /** see `PieceOfLevel` */
  readonly isSole: boolean;
}

interface QuickLevelCuts {
  /** See `QuickCuts`. */
  write(chunk: Uint8Array): boolean;
  /** nothing more is to be found */
  readonly isDone: boolean;
  /** Null: the document is incomplete, or may not be cut. */
  end(): LevelCuts | null;
}

/** Does the same as `createQuickCuts` for all rows of a level, whatever their names. */
export function createLevelCuts(
  level: RowLevel,
  rangeBytes: number,
  markBytes: number,
): QuickLevelCuts | null {
  const whole = { from: 0, until: Infinity, outer: [] };
  const reader = createTagReader({ rowTag: null, level, around: null, rangeBytes }, markBytes, whole);
  if (reader === null) return null;
  return {
    get isDone() {
      return reader.isDone;
    },
    write: (chunk) => reader.write(chunk),
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0) return null;
      const { head, isSole } = piece!.level!;
      return head === null ? null : { head, isSole, cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}

/** Does the same as `createQuickPiece` for all rows of a level. `around`: the level's state, if the piece begins within it. */
export function createLevelPiece(
  level: RowLevel,
  around: LevelAround | null,
  rangeBytes: number,
  markBytes: number,
  bounds: PieceBounds,
): QuickPiece | null {
  return createTagReader({ rowTag: null, level, around, rangeBytes }, markBytes, bounds);
}

/**
 * Returns the elements around the rows of a level, or null if its tags alone do not show them. `beginning`: the document after its byte
 * order mark, up to the first child.
 */
export function levelAround(level: RowLevel, beginning: Uint8Array, markBytes: number): LevelAround | null {
  const bounds = { from: 0, until: Infinity, outer: [] };
  const looking = { rowTag: null, level, around: null, rangeBytes: Infinity };
  const reader = createTagReader(looking, markBytes, bounds);
  return reader?.write(beginning) === true ? reader.around : null;
}

// Cuts between rows: the same cuts as those of `createRowCutFinder`, found several times as fast. Nothing is checked here, because the
// readers of the ranges check everything. A range before a cut reports whatever is not well-formed before that cut.

interface QuickCuts {
  /** False: the document needs more than its tags to be seen; nothing more is to be written. */
  write(chunk: Uint8Array): boolean;
  /** Returns the cuts found since the last call, in their order, or null if the rest cannot be cut. */
  take(): readonly RowCut[] | null;
  /** bytes before the root element; -1: it has not begun */
  readonly prologBytes: number;
  /** Null: the document is incomplete, or has no element. */
  end(): { readonly cuts: readonly RowCut[]; readonly prologBytes: number } | null;
}

/**
 * `rangeBytes`: bytes of a range, not counting the rest of its last row; `markBytes`: bytes of the file's byte order mark, which are not
 * written. Returns null if WebAssembly is not available, or if the name is too long.
 */
export function createQuickCuts(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
): QuickCuts | null {
  const bounds = { from: 0, until: Infinity, outer: [] };
  const reader = createQuickPiece(rowTag, rangeBytes, markBytes, bounds);
  if (reader === null) return null;
  let taken = 0;
  return {
    write: (chunk) => reader.write(chunk),
    take() {
      const places = reader.cuts.slice(taken).map((cut) => placeOfCut(firstPiece, cut));
      taken += places.length;
      return places.includes(null) ? null : places.map((place) => rowCutOf(place!));
    },
    get prologBytes() {
      return reader.prologBytes;
    },
    end() {
      const piece = reader.end();
      const placed = piece === null ? null : placePiece(firstPiece, piece);
      if (placed === null || piece!.prologBytes < 0) return null;
      return { cuts: placed.cuts, prologBytes: piece!.prologBytes };
    },
  };
}

/**
 * Does the same as `createQuickCuts` for one piece: returns the cuts in it. `markBytes`: bytes of the byte order mark, if the piece
 * begins at 0.
 */
export function createQuickPiece(
  rowTag: RowElementName,
  rangeBytes: number,
  markBytes: number,
  bounds: PieceBounds,
): QuickPiece | null {
  return createTagReader({ rowTag, level: null, around: null, rangeBytes }, markBytes, bounds);
}
