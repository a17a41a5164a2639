/**
 * Ranges of a large document (src/tools/inputs/readable-ranges.ts) whose places to cut it at are looked for in pieces of the file, each by
 * whom it may be: where a piece does not begin as was taken to be, it is looked at once more.
 */
import { firstPiece, placePiece, type PieceOfRows } from '../../engine/shred/row-tag/pieces.ts';
import { createQuickPiece } from '../../engine/shred/row-tag/quick-cuts.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import type { RowCut } from '../../engine/shred/row-tag/ranges.ts';
import type { DocumentParts, DocumentRange, InputMember } from './members.ts';
import { markBytesOf, rangesBetween } from './readable-ranges.ts';

export interface Surveying {
  readonly rowTag: RowElementName;
  /** bytes of a range, but for the rest of the row element that they end in; and of a piece */
  readonly rangeBytes: number;
}

/** Elements around are looked for in so much of a document. */
const headBytes = 1024 * 1024;
/** a prefix, and what stands before and behind a name */
const marginBytes = 1024;

/** How many pieces a file has; 0: it is not to be cut, or in an encoding in which it cannot be. */
export async function countPieces(
  { parts, diskBytes }: InputMember,
  { rangeBytes }: Surveying,
): Promise<number> {
  if (parts === undefined || diskBytes <= rangeBytes || (await markBytesOf(parts)) === null) return 0;
  return Math.ceil(diskBytes / rangeBytes);
}

/** What piece `number` of the file says, from 0. Null: no row element begins there, or its tags alone do not tell. */
export async function surveyPiece(
  member: InputMember,
  number: number,
  surveying: Surveying,
): Promise<PieceOfRows | null> {
  const { rangeBytes } = surveying;
  const from =
    number === 0
      ? 0
      : await firstRowTag(member.parts!, number * rangeBytes, (number + 1) * rangeBytes, surveying);
  if (from === null) return null;
  const outer = number === 0 ? [] : await tagsAroundRows(member.parts!, surveying);
  // what does not begin at a row may have no end that is seen: all such pieces would be read to the end of the file
  return readPiece(member, from, outer, surveying, (number + 2) * rangeBytes);
}

/** `from`: 0, or where a row element begins, of which `outer` are the start tags around. Null, too: the piece goes on at `most`. */
async function readPiece(
  { parts, diskBytes }: InputMember,
  from: number,
  outer: readonly string[],
  { rowTag, rangeBytes }: Surveying,
  most = Infinity,
): Promise<PieceOfRows | null> {
  const markBytes = from === 0 ? ((await markBytesOf(parts!)) ?? 0) : 0;
  const until = (Math.floor(from / rangeBytes) + 1) * rangeBytes;
  const piece = createQuickPiece(rowTag, rangeBytes, markBytes, { from, until, outer });
  if (piece === null) return null;
  const to = Math.min(diskBytes, most);
  for await (const chunk of parts!.bytes({ from: from + markBytes, to })) {
    if (!piece.write(chunk)) return null;
    if (piece.isDone) break;
  }
  return piece.isDone || to === diskBytes ? piece.end() : null;
}

/** Where what looks like the start tag of a row begins in this part of the file. Null: nowhere. */
async function firstRowTag(
  parts: DocumentParts,
  from: number,
  to: number,
  { rowTag }: Surveying,
): Promise<number | null> {
  const name = Buffer.from(rowTag.localName);
  let text = Buffer.alloc(0);
  let offset = from;
  for await (const chunk of parts.bytes({ from, to: to + name.length + marginBytes })) {
    text = Buffer.concat([text, chunk]);
    for (
      let at = text.indexOf(name);
      at >= 0 && at + name.length < text.length;
      at = text.indexOf(name, at + 1)
    ) {
      const tag = /<(?:[^\s<>/"'=:]+:)?$/.exec(text.toString('latin1', Math.max(0, at - marginBytes), at));
      if (tag === null || !/[\s/>]/.test(String.fromCharCode(text[at + name.length]!))) continue;
      const found = offset + at - tag[0].length;
      return found < to ? found : null;
    }
    const kept = Math.min(text.length, name.length + marginBytes);
    offset += text.length - kept;
    text = Buffer.from(text.subarray(text.length - kept));
  }
  return null;
}

/** Those around the second row of the document, which most others have, too; none where names of rows have no namespace. */
async function tagsAroundRows(parts: DocumentParts, { rowTag }: Surveying): Promise<readonly string[]> {
  if (rowTag.namespaceUri === null) return [];
  const markBytes = (await markBytesOf(parts)) ?? 0;
  const head = createQuickPiece(rowTag, 1, markBytes, { from: 0, until: 0, outer: [] });
  for await (const chunk of parts.bytes({ from: markBytes, to: headBytes }))
    if (head?.write(chunk) !== true || head.isDone) break;
  return head?.isDone === true ? head.end()!.cuts[0]!.begun : [];
}

/**
 * None: it cannot be cut. Null: the document's tags alone do not tell where it may be cut. `pieces`: by number; those that do not follow from the ones before are
 * read here. `modified`: of the file, before the first of them was read.
 */
export async function rangesOfPieces(
  member: InputMember,
  pieces: readonly (PieceOfRows | null)[],
  surveying: Surveying,
  modified: number,
): Promise<readonly DocumentRange[] | null> {
  const cuts: RowCut[] = [];
  let prologBytes = -1;
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
    if (offset === 0) ({ prologBytes } = piece!);
    for (const cut of placed.cuts) cuts.push(cut);
    if (placed.next === null) break;
    start = placed.next;
  }
  if (prologBytes < 0) return null;
  const found = { cuts, prologBytes, bytes: member.diskBytes, sha256: '' };
  return (await rangesBetween(member.parts!, found, modified)) ?? [];
}
