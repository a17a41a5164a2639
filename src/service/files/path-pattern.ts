/**
 * Patterns of paths: `*` and `?` inside a name, `[…]` for one of several characters, `**` for any number of folders. Patterns have no
 * further syntax, so the time to compare a name is bounded by the lengths of both, and a pattern never matches outside its folder.
 */
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';

export interface PathPattern {
  /** above the first wildcard: a path, `/` or `.` */
  readonly folder: string;
  /** names below it */
  readonly segments: readonly Segment[];
  /** `**` at the end: files at any depth, and no folder as a whole */
  readonly filesOnly: boolean;
}

/** `**`, or the pattern of one name. */
type Segment = 'folders' | readonly Piece[];

/** `*`, or one character: any, or one within (or without) these ranges of code points. */
type Piece = 'any' | { readonly ranges: readonly Range[]; readonly within: boolean };
type Range = readonly [first: number, last: number];

/** Indexes of segments that the next name may match. */
export type PatternState = ReadonlySet<number>;

const anyCharacter: Piece = { ranges: [], within: false };
const wildcard = /[*?[]/;
const closedSet = /\[[!^]?\]?[^\]/]*\]/g;

/** Returns null if the path has no wildcard. AppError `invalid_option` describes an invalid pattern, and the right form. */
export function parsePathPattern(path: string): PathPattern | null {
  const isPattern = wildcard.test(path);
  if (path.length > fixedLimits.patternLength)
    return isPattern ? refuse(path, `a pattern has at most ${fixedLimits.patternLength} characters`) : null;
  refuseForeign(path, isPattern);
  if (!isPattern) return null;
  const parts = path.split('/');
  const first = parts.findIndex((part) => wildcard.test(part));
  const above = parts.slice(0, first).join('/');
  const below = parts
    .slice(first)
    .filter((part) => part !== '' && part !== '.')
    // `**/**` means the same as `**`, and costs a comparison more for each folder
    .filter((part, at, all) => part !== '**' || all[at - 1] !== '**');
  if (below.includes('..')) refuse(path, '.. is not allowed after a wildcard: begin with the folder itself');
  if (below.length > fixedLimits.patternSegments)
    refuse(path, `a pattern has at most ${fixedLimits.patternSegments} names from its first wildcard on`);
  const segments = below.map((part) => (part === '**' ? 'folders' : parseSegment(path, part)));
  const filesOnly = segments.at(-1) === 'folders';
  return {
    folder: above === '' ? (path.startsWith('/') ? '/' : '.') : above,
    segments: filesOnly ? [...segments, ['any']] : segments,
    filesOnly,
  };
}

/** Alternatives and lists of patterns, as some shells have them. */
function refuseForeign(path: string, isPattern: boolean): void {
  const bare = path.replace(closedSet, '*');
  if (/\{[^{}/]*(?:,|\.\.)/.test(bare) || (isPattern && /[{}]/.test(bare)))
    refuse(
      path,
      '{ and } are not supported in patterns: name each input by itself, or use *; [{] and [}] are the characters',
    );
  if (/[?*+@!]\(/.test(bare))
    refuse(path, '( ) is not supported in patterns: use *, ?, […] or **; [(] is the character');
}

function parseSegment(path: string, text: string): readonly Piece[] {
  const characters = Array.from(text);
  const pieces: Piece[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at]!;
    if (character === '*') {
      if (pieces.at(-1) !== 'any') pieces.push('any');
    } else if (character === '?') pieces.push(anyCharacter);
    else if (character === '\\')
      refuse(path, 'a backslash is not supported in patterns: [*] means the character * itself');
    else if (character === '[') {
      const end = setEnd(characters, at);
      if (end < 0) refuse(path, 'a [ is not closed within its name: [[] means the character itself');
      pieces.push(parseSet(path, characters.slice(at + 1, end)));
      at = end;
    } else pieces.push({ ranges: [[code(character), code(character)]], within: true });
  }
  return pieces;
}

/** A `]` in the first place is one of the characters. */
function setEnd(characters: readonly string[], start: number): number {
  const first = start + (isNegation(characters[start + 1]) ? 2 : 1);
  return characters.indexOf(']', first + 1);
}

function parseSet(path: string, characters: readonly string[]): Piece {
  const within = !isNegation(characters[0]);
  const set = within ? characters : characters.slice(1);
  const ranges: Range[] = [];
  for (let at = 0; at < set.length; at += 1) {
    const character = set[at]!;
    if (character === '[' && /[:.=]/.test(set[at + 1] ?? ''))
      refuse(path, 'classes such as [:alpha:] are not supported in patterns: write the ranges, [A-Za-z]');
    if (set[at + 1] !== '-' || at + 2 >= set.length) {
      ranges.push([code(character), code(character)]);
      continue;
    }
    const last = set[at + 2]!;
    if (code(last) < code(character)) refuse(path, `[${character}-${last}] is empty: reverse it`);
    ranges.push([code(character), code(last)]);
    at += 2;
  }
  return { ranges, within };
}

function isNegation(character: string | undefined): boolean {
  return character === '!' || character === '^';
}

function code(character: string): number {
  return character.codePointAt(0)!;
}

function refuse(path: string, detail: string): never {
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  throw new AppError('invalid_option', `${shown}: ${detail}`);
}

/** Before the first name. */
export function patternStart(pattern: PathPattern): PatternState {
  return withoutFolders(pattern, [0]);
}

/** `link`: to a folder; `**` does not go into it. */
export type EntryKind = 'file' | 'folder' | 'link';

/**
 * Advances by one name: returns whether a path that ends with it matches, and the state below it if it is a folder. Only a segment that
 * begins with a dot matches a name that does.
 */
export function patternStep(
  pattern: PathPattern,
  state: PatternState,
  name: string,
  kind: EntryKind,
): { readonly matches: boolean; readonly below: PatternState } {
  const below: number[] = [];
  let matches = false;
  const characters = Array.from(name, code);
  for (const at of state) {
    const segment = pattern.segments[at]!;
    if (segment === 'folders') {
      if (kind === 'folder' && !name.startsWith('.')) below.push(at);
    } else if (isMatch(segment, characters)) {
      if (at + 1 < pattern.segments.length) below.push(at + 1);
      else if (kind === 'file' || !pattern.filesOnly) matches = true;
    }
  }
  return { matches, below: kind === 'file' ? new Set() : withoutFolders(pattern, below) };
}

/** Returns the length of the part of a file's path that matches: the whole path, or a parent folder; null if nothing does. */
export function matchedLength(pattern: PathPattern, path: string): number | null {
  let state = patternStart(pattern);
  for (let start = 0; start < path.length && state.size > 0;) {
    const slash = path.indexOf('/', start);
    const end = slash < 0 ? path.length : slash;
    const step = patternStep(pattern, state, path.slice(start, end), slash < 0 ? 'file' : 'folder');
    if (step.matches) return end;
    state = step.below;
    start = end + 1;
  }
  return null;
}

/** `**` also matches no folder. */
function withoutFolders({ segments }: PathPattern, state: readonly number[]): PatternState {
  const whole = new Set<number>();
  for (let at of state) {
    whole.add(at);
    while (segments[at] === 'folders') whole.add((at += 1));
  }
  return whole;
}

/** If the rest does not match, the last `*` takes one more character: no earlier one needs to be reconsidered. */
function isMatch(segment: readonly Piece[], name: readonly number[]): boolean {
  if (name[0] === 0x2e && !isDot(segment[0])) return false;
  let piece = 0;
  let lastAny = -1;
  let taken = 0;
  for (let at = 0; at < name.length;) {
    const wanted = segment[piece];
    if (wanted === 'any') {
      lastAny = piece;
      taken = at;
      piece += 1;
    } else if (wanted !== undefined && isOneOf(wanted, name[at]!)) {
      piece += 1;
      at += 1;
    } else if (lastAny >= 0) {
      piece = lastAny + 1;
      taken += 1;
      at = taken;
    } else return false;
  }
  return segment.slice(piece).every((rest) => rest === 'any');
}

function isDot(piece: Piece | undefined): boolean {
  return piece !== undefined && piece !== 'any' && piece.within && isOneOf(piece, 0x2e);
}

function isOneOf({ ranges, within }: Exclude<Piece, 'any'>, character: number): boolean {
  return ranges.some(([first, last]) => first <= character && character <= last) === within;
}
