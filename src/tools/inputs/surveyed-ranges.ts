/**
 * Finds the ranges of a large document (src/tools/inputs/readable-ranges.ts) by searching pieces of the file for places to cut, in any
 * process. If the assumed start of a piece proves wrong, the piece is searched again.
 */
import { firstPiece, placePiece, type PieceOfRows } from '../../engine/shred/row-tag/pieces.ts';
import { createLevelPiece, type LevelCuts } from '../../engine/shred/row-tag/level-cuts.ts';
import type { LevelAround, LevelHead, RowLevel } from '../../engine/shred/row-tag/level.ts';
import { createQuickPiece } from '../../engine/shred/row-tag/quick-cuts.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { RowCut } from '../../engine/shred/row-tag/ranges.ts';
import type { DocumentParts, DocumentRange, InputMember } from './members.ts';
import { markBytesOf, rangesBetween } from './readable-ranges.ts';

export interface Surveying {
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

/** Surveys piece `number` of the file, from 0. Returns null if no row element begins in it, or if its tags alone do not tell. */
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
 * Returns the ranges of a document; an empty list if it cannot be cut, null if its tags alone do not tell where. `pieces`: by number;
 * those that do not continue the ones before are read here. `modified`: modification time of the file before the first piece was read.
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
