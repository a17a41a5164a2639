/**
 * A large document in ranges that are read apart from each other (`--row-tag`): each begins at a row element, and is read behind
 * the start tags that are open there. The rows, their names and places in messages are those of the document as a whole.
 */
import { createHash } from 'node:crypto';
import { InputError } from '../engine/diagnostics.ts';
import type { EngineLimits } from '../engine/limits.ts';
import type { RowElementName } from '../engine/shred/row-tag/elements.ts';
import {
  createQuickCuts,
  createQuickPiece,
  createLevelPiece,
  type LevelCuts,
} from '../engine/shred/row-tag/tag-reader.ts';
import { createRowCutFinder, endTagsOf, type RowCut } from '../engine/shred/row-tag/ranges.ts';
import { DECLARATION_BYTES, detectEncoding } from '../engine/xml/encoding/detection.ts';
import type { TokenizerKernels } from '../engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../engine/xml/names/interned.ts';
import { AppError } from '../errors.ts';
import { hashDocument, readDocument } from './read-document.ts';
import { utf8Text } from '../engine/xml/utf8.ts';
import type { DocumentParts, DocumentRange, InputMember } from './members.ts';
import { firstPiece, placePiece, type PieceOfRows } from '../engine/shred/row-tag/pieces.ts';
import type { LevelAround, LevelHead, RowLevel } from '../engine/shred/row-tag/level.ts';

const LESS = 0x3c;
const firstCut: RowCut = {
  location: { line: 1, column: 1, offset: 0 },
  number: 1,
  openTags: '',
  attributes: 0,
};

interface SplittingOptions {
  readonly rowTag: RowElementName;
  readonly limits: EngineLimits;
  readonly kernels: TokenizerKernels;
  /** bytes of a range, not counting the rest of its last row element */
  readonly rangeBytes: number;
  /** SHA-256 of the document, if known */
  readonly sha256?: string;
}

/** Encodings in which a byte of the file is a byte of the tokeniser's input. */
const encodingsInPlace = new Set(['utf-8', 'us-ascii']);
/** Limit for the text in front of the root element, which is kept with every range. */
const maxPrologBytes = 1024 * 1024;

/**
 * The ranges of a document that can be read apart. Null: the document is to be read as a whole, as it is too small, in an archive, in
 * an encoding such as UTF-16, or not well-formed (its reader reports why).
 */
export async function splitDocument(
  member: InputMember,
  options: SplittingOptions,
): Promise<readonly DocumentRange[] | null> {
  const { parts } = member;
  if (parts === undefined || member.diskBytes <= options.rangeBytes) return null;
  const modified = await parts.modified();
  const markBytes = await markBytesOf(parts);
  if (markBytes === null) return null;
  const found =
    (await quickCuts(parts, member.diskBytes, markBytes, options)) ?? (await findCuts(member, options));
  if (found === null) return null;
  return rangesBetween(parts, { ...found, sha256: options.sha256 ?? found.sha256 }, modified);
}

/**
 * Like `splitDocument`, but uses tags alone and yields each range as soon as its end is found, while others read those before. Yields
 * one range for a part that cannot be cut further, such as a whole document or one that is not well-formed. Yields none if
 * `splitDocument` has to find the ranges. `onBytes` receives all bytes of the document.
 */
export async function* rangesAsFound(
  { parts, diskBytes }: InputMember,
  {
    rowTag,
    rangeBytes,
    sha256,
  }: Pick<SplittingOptions, 'rowTag' | 'rangeBytes'> & { readonly sha256: string },
  onBytes: (chunk: Uint8Array) => void,
): AsyncGenerator<DocumentRange> {
  if (parts === undefined || diskBytes <= rangeBytes) return;
  const modified = await parts.modified();
  const markBytes = await markBytesOf(parts);
  const quick = markBytes === null ? null : createQuickCuts(rowTag, rangeBytes, markBytes);
  if (quick === null) return;
  const file: CutFile = { prolog: '', sha256, modified };
  let start = firstCut;
  let bytes = 0;
  let isCut = true;
  for await (const chunk of parts.bytes({ from: 0, to: diskBytes })) {
    onBytes(chunk);
    const isSeen: boolean = isCut && quick.write(bytes === 0 ? chunk.subarray(markBytes!) : chunk);
    bytes += chunk.length;
    const cuts: readonly RowCut[] | null = isCut ? quick.take() : [];
    isCut = isSeen && cuts !== null;
    for (const cut of cuts ?? []) {
      if (start === firstCut) {
        if (quick.prologBytes > maxPrologBytes) return;
        file.prolog = utf8Text(await bytesOf(parts, 0, quick.prologBytes));
      }
      yield rangeOf(start, cut, bytes, file);
      start = cut;
    }
    if (!isCut && start === firstCut) return;
  }
  yield rangeOf(start, null, bytes, file);
}

/** Bytes of the byte order mark. Null: the document is in an encoding in which it cannot be cut. */
export async function markBytesOf(parts: DocumentParts): Promise<number | null> {
  const encoding = detectEncoding(await bytesOf(parts, 0, DECLARATION_BYTES), undefined, true);
  if (encoding === null || encoding.problem !== undefined || !encodingsInPlace.has(encoding.encoding))
    return null;
  if (encoding.isVersion11 === true) return null;
  return encoding.markBytes;
}

/** Returns null if the document needs a full XML parser. */
async function quickCuts(
  parts: DocumentParts,
  size: number,
  markBytes: number,
  { rowTag, rangeBytes, sha256 }: SplittingOptions,
): Promise<FoundCuts | null> {
  const cuts = createQuickCuts(rowTag, rangeBytes, markBytes);
  if (cuts === null) return null;
  const hash = sha256 === undefined ? createHash('sha256') : null;
  let bytes = 0;
  for await (const chunk of parts.bytes({ from: 0, to: size })) {
    hash?.update(chunk);
    if (!cuts.write(bytes === 0 ? chunk.subarray(markBytes) : chunk)) return null;
    bytes += chunk.length;
  }
  const found = cuts.end();
  return found === null ? null : { ...found, bytes, sha256: hash?.digest('hex') ?? '' };
}

/** The ranges that begin at the cuts which are places of the file. */
export async function rangesBetween(
  parts: DocumentParts,
  found: FoundCuts,
  modified: number,
): Promise<readonly DocumentRange[] | null> {
  if (found.prologBytes > maxPrologBytes) return null;
  const prolog = utf8Text(await bytesOf(parts, 0, found.prologBytes));
  const starts: RowCut[] = [firstCut];
  for (const cut of found.cuts) {
    const [first] = await bytesOf(parts, cut.location.offset, cut.location.offset + 1);
    if (first === LESS) starts.push(cut);
  }
  return starts.length === 1
    ? null
    : starts.map((start, index) =>
        rangeOf(start, starts[index + 1] ?? null, found.bytes, { prolog, sha256: found.sha256, modified }),
      );
}

interface CutFile extends Pick<DocumentRange, 'sha256' | 'modified'> {
  /** before the root element */
  prolog: string;
}

/** `next`: null: it ends with the document, which has so many bytes. */
function rangeOf(
  start: RowCut,
  next: RowCut | null,
  bytes: number,
  { prolog, sha256, modified }: CutFile,
): DocumentRange {
  const { location, number, openTags, attributes } = start;
  return {
    from: location.offset,
    to: next?.location.offset ?? bytes,
    location,
    number,
    lead: start === firstCut ? '' : prolog + openTags,
    attributes,
    trail: endTagsOf(next?.openTags ?? ''),
    sha256,
    modified,
  };
}

/** Returns a range as a member that `readDocument` can read. AppError `unprocessable_input` if the file has changed since. */
export function memberOfRange(member: InputMember, range: DocumentRange): InputMember {
  return { ...member, diskBytes: range.to - range.from, range, chunks: () => unchangedBytes(member, range) };
}

/** Returns a file whose SHA-256 is known, with its modification time (ms) before it was hashed: it need not be hashed again. */
export function knownMember(member: InputMember, sha256: string, modified: number): InputMember {
  const whole = { from: 0, to: member.diskBytes, modified };
  return { ...member, sha256, chunks: () => unchangedBytes(member, whole) };
}

/** Returns the SHA-256 (hex) of the whole file of a range. AppError `unprocessable_input` if the file has changed since. */
export function hashWhole(member: InputMember, { modified }: DocumentRange): Promise<string> {
  return hashDocument({ chunks: () => unchangedBytes(member, { from: 0, to: null, modified }) });
}

async function* unchangedBytes(
  member: InputMember,
  { from, to, modified }: { readonly from: number; readonly to: number | null; readonly modified: number },
): AsyncIterable<Uint8Array> {
  const parts = member.parts!;
  let bytes = 0;
  for await (const chunk of parts.bytes({ from, to: to ?? Number.MAX_SAFE_INTEGER })) {
    yield chunk;
    bytes += chunk.length;
  }
  const isWhole = to === null || bytes === to - from;
  if (!isWhole || (await parts.modified()) !== modified)
    throw new AppError('unprocessable_input', `${member.path}: the file changed while it was read`);
}

interface FoundCuts {
  readonly cuts: readonly RowCut[];
  readonly prologBytes: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Returns null if the document is not well-formed, or over a limit. */
async function findCuts(
  member: InputMember,
  { rowTag, limits, kernels, rangeBytes }: SplittingOptions,
): Promise<FoundCuts | null> {
  const names = createNameTable();
  const finder = createRowCutFinder(rowTag, names);
  let wanted = rangeBytes;
  try {
    const reader = {
      names,
      limits,
      kernels,
      onBatch: finder.consume,
      afterChunk: (_size: number, read: number) => {
        if (read < wanted) return;
        finder.request();
        wanted += rangeBytes;
      },
    };
    const { bytes, sha256 } = await readDocument(member, reader);
    return { cuts: finder.cuts, prologBytes: finder.prologBytes, bytes, sha256 };
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

/** Bytes `from` to `to` of the file, or to its end. */
export async function bytesOf(parts: DocumentParts, from: number, to: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of parts.bytes({ from, to })) chunks.push(chunk.slice());
  return Buffer.concat(chunks);
}

// Finds the ranges of a large document by searching pieces of the file for places to cut, in any
// process. If the assumed start of a piece proves wrong, the piece is searched again.

interface Surveying {
  readonly rows: SurveyedRows;
  /** bytes of a range, not counting the rest of its last row element; also of a piece */
  readonly rangeBytes: number;
}

/** The row elements: those of a name, or those of a level, whatever their names. */
export type SurveyedRows = { readonly rowTag: RowElementName } | { readonly level: SurveyedLevel };

/** A level that was found at the beginning of the document. */
export interface SurveyedLevel extends RowLevel {
  readonly around: LevelAround;
  /** local names of rows: pieces are assumed to begin at these */
  readonly rowNames: readonly string[];
}

/** Elements around are looked for in so much of a document. */
const headBytes = 1024 * 1024;
/** bytes for a prefix and the characters around a name */
const marginBytes = 1024;

/** Returns the number of pieces of a file; 0 if it must not be cut, or has an encoding in which it cannot be cut. */
export async function countPieces(
  { parts, diskBytes }: InputMember,
  { rangeBytes }: Pick<Surveying, 'rangeBytes'>,
): Promise<number> {
  if (parts === undefined || diskBytes <= rangeBytes || (await markBytesOf(parts)) === null) return 0;
  return Math.ceil(diskBytes / rangeBytes);
}

/** Surveys piece `number` of the file, from 0. Returns null if no row element begins in it, or if its tags alone do not show that. */
export async function surveyPiece(
  member: InputMember,
  number: number,
  surveying: Surveying,
): Promise<PieceOfRows | null> {
  const { rangeBytes } = surveying;
  const from =
    number === 0
      ? 0
      : await firstRowTag(member.parts!, number * rangeBytes, (number + 1) * rangeBytes, surveying.rows);
  if (from === null) return null;
  const outer = number === 0 ? [] : await tagsAroundRows(member.parts!, surveying.rows);
  return readPiece(member, from, outer, surveying, true);
}

/**
 * `from`: 0, or the start of a row element, with the start tags around it in `outer`. `isGuess`: a piece that does not begin at a row
 * may have no visible end; it is given up, because all such pieces would be read to the end of the file.
 */
async function readPiece(
  { parts, diskBytes }: InputMember,
  from: number,
  outer: readonly string[],
  { rows, rangeBytes }: Surveying,
  isGuess = false,
): Promise<PieceOfRows | null> {
  const markBytes = from === 0 ? ((await markBytesOf(parts!)) ?? 0) : 0;
  // only the first piece inspects the content between rows near the beginning
  const least = from === 0 && 'level' in rows ? rows.level.headBytes : from;
  const until = (Math.floor(least / rangeBytes) + 1) * rangeBytes;
  const bounds = { from, until, outer };
  const piece =
    'rowTag' in rows
      ? createQuickPiece(rows.rowTag, rangeBytes, markBytes, bounds)
      : createLevelPiece(rows.level, from === 0 ? null : rows.level.around, rangeBytes, markBytes, bounds);
  if (piece === null) return null;
  const to = Math.min(diskBytes, isGuess ? until + rangeBytes : Infinity);
  for await (const chunk of parts!.bytes({ from: from + markBytes, to })) {
    if (!piece.write(chunk)) return null;
    if (piece.isDone) break;
  }
  return piece.isDone || to === diskBytes ? piece.end() : null;
}

/** Returns the offset of the first apparent start tag of a row in this part of the file, or null if there is none. */
async function firstRowTag(
  parts: DocumentParts,
  from: number,
  to: number,
  rows: SurveyedRows,
): Promise<number | null> {
  const names = 'rowTag' in rows ? [rows.rowTag.localName] : rows.level.rowNames;
  if (names.length === 0) return null;
  // a character of the text is a byte of the file
  const inBytes = names.map((name) => Buffer.from(name).toString('latin1').replace(/[.-]/g, '\\$&'));
  const startTag = new RegExp(`<(?:[^\\s<>/"'=:]+:)?(?:${inBytes.join('|')})[\\s/>]`);
  const overlap = Math.max(...inBytes.map((name) => name.length)) + marginBytes;
  let text = '';
  let offset = from;
  for await (const chunk of parts.bytes({ from, to: to + overlap })) {
    text += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    const found = startTag.exec(text);
    if (found !== null) return offset + found.index < to ? offset + found.index : null;
    offset += text.length - Math.min(text.length, overlap);
    text = text.slice(-overlap);
  }
  return null;
}

/**
 * Returns the tags around the second row of the document, which most other rows share. Returns none if names of rows have no namespace.
 */
async function tagsAroundRows(parts: DocumentParts, rows: SurveyedRows): Promise<readonly string[]> {
  if ('level' in rows) return rows.level.around.tags;
  const { rowTag } = rows;
  if (rowTag.namespaceUri === null) return [];
  const markBytes = (await markBytesOf(parts)) ?? 0;
  const head = createQuickPiece(rowTag, 1, markBytes, { from: 0, until: 0, outer: [] });
  for await (const chunk of parts.bytes({ from: markBytes, to: headBytes }))
    if (head?.write(chunk) !== true || head.isDone) break;
  return head?.isDone === true ? head.end()!.cuts[0]!.begun : [];
}

/** Places to cut a document, as its pieces determine them. */
interface PlacesFound {
  readonly cuts: readonly RowCut[];
  readonly prologBytes: number;
  /** for rows of a level: facts from the piece with the first of them and the piece with the last */
  readonly level: { readonly head: LevelHead | null; readonly isSole: boolean } | null;
}

/**
 * Returns the ranges of a document; an empty list if it cannot be cut, null if its tags alone do not show where. `pieces`: by number; those
 * that do not continue the ones before are read here. `modified`: modification time of the file before the first piece was read.
 */
export async function rangesOfPieces(
  member: InputMember,
  pieces: readonly (PieceOfRows | null)[],
  surveying: Surveying,
  modified: number,
): Promise<readonly DocumentRange[] | null> {
  const found = await placesOfPieces(member, pieces, surveying);
  if (found === null) return null;
  return (
    (await rangesBetween(member.parts!, { ...found, bytes: member.diskBytes, sha256: '' }, modified)) ?? []
  );
}

/** Like `rangesOfPieces`, for rows of a level. Returns null in the same cases as `QuickLevelCuts`. */
export async function levelCutsOfPieces(
  member: InputMember,
  pieces: readonly (PieceOfRows | null)[],
  surveying: Surveying,
): Promise<LevelCuts | null> {
  const found = await placesOfPieces(member, pieces, surveying);
  if (found === null || found.level?.head == null) return null;
  const { cuts, prologBytes } = found;
  return { cuts, prologBytes, head: found.level.head, isSole: found.level.isSole };
}

async function placesOfPieces(
  member: InputMember,
  pieces: readonly (PieceOfRows | null)[],
  surveying: Surveying,
): Promise<PlacesFound | null> {
  const cuts: RowCut[] = [];
  let prologBytes = -1;
  let head: LevelHead | null = null;
  let start = firstPiece;
  for (;;) {
    const { offset } = start.location;
    const surveyed = pieces[Math.floor(offset / surveying.rangeBytes)] ?? null;
    let placed = surveyed === null ? null : placePiece(start, surveyed);
    let piece = surveyed;
    if (placed === null) {
      piece = await readPiece(member, offset, start.around, surveying);
      placed = piece === null ? null : placePiece(start, piece);
    }
    if (placed === null) return null;
    const { level = null } = piece!;
    if (offset === 0) {
      ({ prologBytes } = piece!);
      head = level?.head ?? null;
    }
    for (const cut of placed.cuts) cuts.push(cut);
    if (level?.hasEnded === true || placed.next === null) {
      if (prologBytes < 0) return null;
      return { cuts, prologBytes, level: level === null ? null : { head, isSole: level.isSole } };
    }
    start = placed.next;
  }
}
