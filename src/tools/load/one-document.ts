/**
 * Cuts a large document into ranges that are shredded separately, but remain one document
 * (docs/decisions/loading/one-document-in-ranges.md). It is cut between children of one of its outermost elements, if these children
 * leave no trace in the state of the open elements but their number.
 */
import { createLevelCuts, levelAround, type LevelCuts } from '../../engine/shred/row-tag/tag-reader.ts';
import { createLevelFinder, type FoundLevel } from '../../engine/shred/row-tag/level.ts';
import type { ConsumeBatch } from '../../engine/shred/row-tag/elements.ts';
import { createShredder, type Shredder } from '../../engine/shred/shredder.ts';
import type { OpenDocument } from '../../engine/shred/open-document.ts';
import { createFastXmlTokenizer } from '../../engine/xml/tokenizer/fast.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import type { NameTable, TokenBatch } from '../../engine/xml/tokens.ts';
import type { PlanEdge, RelationalModel } from '../../engine/model/relational-model.ts';
import { isSameName, type QName } from '../../engine/model/source-model.ts';
import { InputError } from '../../engine/diagnostics.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { DocumentRange, InputMember } from '../../inputs/members.ts';
import { bytesOf, markBytesOf, rangesBetween, type SurveyedLevel } from '../../inputs/readable-ranges.ts';
import type { KeyRange } from './document-cut.ts';
import { shreddingOf, type Shredding } from './row-loader.ts';

export interface OneDocumentOptions extends Omit<Shredding, 'session' | 'keyOffsets'> {
  readonly session: Pick<ToolSession, 'request' | 'idJob' | 'jobUuid' | 'byHand' | 'limits' | 'kernels'>;
  /** statistics are gathered while it is shredded */
  readonly withStatistics: boolean;
  /** bytes of a range, not counting the rest of its last row */
  readonly rangeBytes: number;
}

/** A document that may be cut. */
export interface CutDocument {
  readonly ranges: readonly DocumentRange[];
  /** Returns the ranges, each with the elements that are open at its start, once the keys of the first are known. */
  opened(keys: KeyRange): Promise<readonly DocumentRange[]>;
}

/** Number of bytes searched for a place to cut a document. Content that occurs only there does not end the search. */
const headBytes = 1024 * 1024;
/** Limit for the content after the rows, of which all tags are inspected. This takes longer than inspecting those of rows. */
const longestTail = 4 * 1024 * 1024;

/** The result of inspecting the beginning of a document: a level of rows that it may be cut before. */
export interface RowsAhead {
  readonly level: SurveyedLevel;
  /** size of the byte order mark of the file */
  readonly markBytes: number;
  /** modification time before it was read, in ms */
  readonly modified: number;
}

/**
 * The result of `lookAhead` for a document, and the places to cut it. `cuts` is null if its tags alone do not show them, absent if nobody
 * has looked.
 */
export interface SurveyedDocument {
  readonly ahead: RowsAhead | string;
  readonly cuts?: LevelCuts | null;
}

/**
 * Returns null if the document must be read as a whole; the log says why, for a file by itself. `onPass`: called before all of it is
 * read for its places to cut; after that most of the file is usually cached. `surveyed`: results that make the pass unnecessary.
 */
export async function cutOrSay(
  { log }: Pick<ToolSession, 'log'>,
  member: InputMember,
  options: OneDocumentOptions,
  {
    onPass,
    surveyed,
  }: { readonly onPass?: () => void; readonly surveyed?: SurveyedDocument | undefined } = {},
): Promise<CutDocument | null> {
  if (member.parts === undefined) return null;
  const ahead = surveyed?.ahead ?? (await lookAhead(member, options));
  if (typeof ahead !== 'string' && surveyed?.cuts === undefined) onPass?.();
  const cut =
    typeof ahead === 'string'
      ? ahead
      : await rowCutOf(
          member,
          options,
          ahead,
          surveyed?.cuts === undefined ? await findCuts(member, ahead, options) : surveyed.cuts,
        );
  if (typeof cut === 'string') {
    log(`${member.path} is not split among threads or executors: ${cut}`);
    return null;
  }
  const { from, to, location } = cut.ranges.at(-1)!;
  if (to - from > 2 * options.rangeBytes)
    log(`${member.path} is not split from line ${location.line} on: there is content between its rows`);
  return cut;
}

/** Why no document of a load may be cut; null: some may be. */
function whyNoneIsCut({
  session: { request },
  logical: { model },
}: Pick<OneDocumentOptions, 'session' | 'logical'>): string | null {
  if (request.keys === 'hash') return 'its row keys are hashes, which number its rows in sequence';
  if ((model.identityRules ?? []).length > 0)
    return 'its schema has keys that are unique in the whole document';
  return null;
}

/** Looks at the beginning of a document. A reason: it may not be cut. */
export async function lookAhead(
  member: InputMember,
  options: Omit<OneDocumentOptions, 'rangeBytes'>,
): Promise<RowsAhead | string> {
  const never = whyNoneIsCut(options);
  if (never !== null) return never;
  const parts = member.parts!;
  const modified = await parts.modified();
  const markBytes = await markBytesOf(parts);
  if (markBytes === null) return 'it cannot be split in its encoding';
  const found = await findLevel(member, options);
  if (found === null) return 'it has no element near its beginning that has many small children';
  const { offset, contentOffset, rowNames } = found;
  const head = await shredHead(member, options, contentOffset, null);
  const folded = head?.foldedNames() ?? null;
  // other processes may write the open rows, without knowing of these values
  if (head !== null && head.unconvertedValues.length > 0)
    return 'a value before its rows has no place in its column';
  if (options.withStatistics && head !== null && recurs(options.logical.model, head.openDocument().names))
    return 'elements around its rows may be within these, too, and statistics are gathered';
  if (folded === null) return 'text belongs to the element that has its rows';
  const level = {
    offset,
    folded,
    headBytes: Math.min(headBytes, member.diskBytes >> 3),
    tailBytes: options.withStatistics ? longestTail : 0,
  };
  const around = levelAround(level, await bytesOf(parts, markBytes, contentOffset), markBytes);
  if (around === null) return tagsDoNotTell;
  return { level: { ...level, around, rowNames }, markBytes, modified };
}

const tagsDoNotTell = 'its tags alone do not show where its rows are';

/** Finds the cuts in one pass over the document. Returns null if its tags alone do not show them. */
async function findCuts(
  { parts, diskBytes }: InputMember,
  { level, markBytes }: RowsAhead,
  { rangeBytes }: OneDocumentOptions,
): Promise<LevelCuts | null> {
  const cuts = createLevelCuts(level, rangeBytes, markBytes);
  if (cuts === null) return null;
  for await (const chunk of parts!.bytes({ from: markBytes, to: diskBytes })) {
    if (!cuts.write(chunk)) return null;
    if (cuts.isDone) break;
  }
  return cuts.end();
}

/** A reason: it may not be cut. */
async function rowCutOf(
  member: InputMember,
  options: OneDocumentOptions,
  { modified }: RowsAhead,
  found: LevelCuts | null,
): Promise<CutDocument | string> {
  if (found === null) return tagsDoNotTell;
  if (options.withStatistics && !found.isSole)
    return 'the elements around its rows may occur again, and statistics are gathered';
  const whole = { ...found, bytes: member.diskBytes, sha256: '' };
  const ranges = await rangesBetween(member.parts!, whole, modified);
  if (ranges === null) return 'its rows are not contiguous';
  return {
    ranges,
    opened: async (keys) => {
      const started = await shredHead(member, options, 0, keys);
      const beforeRows = await shredHead(member, options, found.head.location.offset, keys);
      const [begun, open] = [started!.openDocument(), beforeRows!.openDocument()];
      return ranges.map((range, at) => ({
        ...range,
        within: {
          open: at === 0 ? begun : after(open, range.number - found.head.number),
          isLast: at === ranges.length - 1,
          bytes: member.diskBytes,
        },
      }));
    },
  };
}

/** Returns whether an element with one of these names may occur within the last of the nested open elements. */
function recurs({ nodes, roots }: RelationalModel, open: readonly QName[]): boolean {
  let edges: readonly PlanEdge[] = roots;
  for (const name of open) {
    const edge = edges.find((one) => isSameName(one.name, name));
    if (edge === undefined) return true;
    ({ edges } = nodes[edge.node]!);
  }
  const met = new Set<number>();
  const left = [...edges];
  for (let edge = left.pop(); edge !== undefined; edge = left.pop()) {
    const { name, node } = edge;
    if (open.some((one) => isSameName(one, name))) return true;
    if (met.has(node)) continue;
    met.add(node);
    left.push(...nodes[node]!.edges, ...nodes[node]!.typeEdges.flatMap((type) => nodes[type.node]!.edges));
  }
  return false;
}

/** The same elements, after more children. */
function after(open: OpenDocument, children: number): OpenDocument {
  return { ...open, position: open.position + children };
}

/** The document as it is before its byte `offset`. Null: it has a fault there. `keys`: of its first range; null: they do not matter. */
async function shredHead(
  member: InputMember,
  options: Omit<OneDocumentOptions, 'rangeBytes'>,
  offset: number,
  keys: KeyRange | null,
): Promise<Shredder | null> {
  const { session } = options;
  const { name, path, carried } = member;
  const names = createNameTable();
  const shredding = shreddingOf({ ...options, keyOffsets: new Map() }, names, { name, path, carried });
  const shredder = createShredder({ ...shredding, kernelFrom: Infinity });
  if (keys !== null) shredder.numberFrom(keys.key, keys.document);
  shredder.beginDocument(name);
  const consume: ConsumeBatch = (batch, locate) => shredder.consume(batch, locate);
  return (await readHead(member, names, session, offset, consume)) ? shredder : null;
}

/** The document up to its byte `to`. False: it has a fault there. */
async function readHead(
  { parts, name, external }: InputMember,
  names: NameTable,
  { limits, kernels }: Pick<ToolSession, 'limits' | 'kernels'>,
  to: number,
  consume: ConsumeBatch,
): Promise<boolean> {
  let isConsumed = true;
  const onBatch = (batch: TokenBatch): void => {
    isConsumed = false;
    consume(batch, (record) => tokenizer.locate(record));
    isConsumed = true;
  };
  const tokenizer = createFastXmlTokenizer({ names, limits, fileName: name, external, onBatch }, kernels);
  let isRead = false;
  try {
    for await (const chunk of parts!.bytes({ from: 0, to })) tokenizer.write(chunk);
    isRead = true;
    // elements are still open at its end
    tokenizer.end();
  } catch (error) {
    // the reader of the document reports what is wrong with it
    if (!(error instanceof InputError)) throw error;
  }
  return isRead && isConsumed;
}

/** `rowNames`: local names of its children. */
async function findLevel(
  member: InputMember,
  { session }: Pick<OneDocumentOptions, 'session'>,
): Promise<(FoundLevel & { readonly rowNames: readonly string[] }) | null> {
  const finder = createLevelFinder();
  const names = createNameTable();
  const bytes = Math.min(headBytes, member.diskBytes >> 1);
  const isRead = await readHead(member, names, session, bytes, finder.consume);
  const found = isRead ? finder.find(bytes) : null;
  if (found === null) return null;
  const rowNames = new Set([...found.children].map((child) => names.localName(child)));
  return { ...found, rowNames: [...rowNames] };
}
