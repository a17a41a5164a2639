/**
 * A large document in ranges that are shredded apart from each other, and are one document all the same (docs/decisions/loading/one-document-in-ranges.md):
 * it is cut between children of one of its outermost elements that leave no trace in what is open there but their number.
 */
import { createLevelCuts, type LevelCuts } from '../../engine/shred/row-tag/level-cuts.ts';
import { createLevelFinder, type FoundLevel } from '../../engine/shred/row-tag/level.ts';
import type { ConsumeBatch } from '../../engine/shred/row-tag/between-tags.ts';
import { createShredder, type Shredder } from '../../engine/shred/shredder.ts';
import type { OpenDocument } from '../../engine/shred/open-document.ts';
import { createXmlTokenizer } from '../../engine/xml/tokenizer/portable.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import type { NameTable } from '../../engine/xml/tokens.ts';
import type { EngineLimits } from '../../engine/limits.ts';
import type { PlanEdge, RelationalModel } from '../../engine/model/relational-model.ts';
import { isSameName, type QName } from '../../engine/model/source-model.ts';
import { InputError } from '../../engine/diagnostics.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { DocumentRange, InputMember } from '../inputs/members.ts';
import { markBytesOf, rangesBetween } from '../inputs/readable-ranges.ts';
import type { KeyRange } from './key-ranges.ts';
import { shreddingOf, type Shredding } from './shredding.ts';

export interface OneDocumentOptions extends Omit<Shredding, 'session' | 'keyOffsets'> {
  readonly session: Pick<ToolSession, 'request' | 'idJob' | 'byHand' | 'limits'>;
  /** statistics are gathered while it is shredded */
  readonly withStatistics: boolean;
  /** bytes of a range, but for the rest of the row that it ends in */
  readonly rangeBytes: number;
}

/** A document that may be cut. */
export interface CutDocument {
  readonly ranges: readonly DocumentRange[];
  /** The ranges, each with what is open where it begins, once the keys of the first are known. */
  opened(keys: KeyRange): Promise<readonly DocumentRange[]>;
}

/** What is looked at to find where a document may be cut; what stands only there does not end that. */
const headBytes = 1024 * 1024;
/** What is looked at behind the rows: all of its tags, which takes longer than those of rows. */
const longestTail = 4 * 1024 * 1024;

/**
 * Null: it is to be read as a whole; the log tells why, of a file by itself. `onPass`: called before all of it is read for its places to cut,
 * which it mostly has then.
 */
export async function cutOrSay(
  { log }: Pick<ToolSession, 'log'>,
  member: InputMember,
  options: OneDocumentOptions,
  onPass: () => void = () => undefined,
): Promise<CutDocument | null> {
  if (member.parts === undefined) return null;
  const cut = whyNoneIsCut(options) ?? (await cutDocument(member, options, onPass));
  if (typeof cut === 'string') {
    log(`${member.path} is not shared out: ${cut}`);
    return null;
  }
  const { from, to, location } = cut.ranges.at(-1)!;
  if (to - from > 2 * options.rangeBytes)
    log(`${member.path} is not shared out from line ${location.line} on: something stands between its rows`);
  return cut;
}

/** Why no document of a load may be cut; null: some may be. */
function whyNoneIsCut({
  session: { request },
  logical: { model },
}: Pick<OneDocumentOptions, 'session' | 'logical'>): string | null {
  if (request.keys === 'hash') return 'keys that follow from a document count its rows on';
  if ((model.identityRules ?? []).length > 0) return 'its schema has keys that hold for all of it';
  return null;
}

/** A reason: it may not be cut. */
async function cutDocument(
  member: InputMember,
  options: OneDocumentOptions,
  onPass: () => void,
): Promise<CutDocument | string> {
  const parts = member.parts!;
  const modified = await parts.modified();
  const markBytes = await markBytesOf(parts);
  if (markBytes === null) return 'its encoding is none that it may be cut in';
  const level = await findLevel(member, options);
  if (level === null)
    return 'near its beginning it has no element with many children, none of which is large';
  const head = await shredHead(member, options, level.contentOffset, null);
  const isRow = head?.rowChildren() ?? null;
  // rows that are open may be written by others, who could not tell
  if (head !== null && head.unconvertedValues.length > 0)
    return 'a value before its rows has no place in its column';
  if (options.withStatistics && head !== null && recurs(options.logical.model, head.openDocument().names))
    return 'elements around its rows may be within these, too, and statistics are gathered';
  if (isRow === null) return 'text belongs to the element that has its rows';
  const rows = {
    offset: level.offset,
    isRow,
    headBytes: Math.min(headBytes, member.diskBytes >> 3),
    tailBytes: options.withStatistics ? longestTail : 0,
  };
  onPass();
  const cuts = createLevelCuts(rows, options.rangeBytes, markBytes);
  const found = cuts === null ? null : await readCuts(member, cuts, markBytes);
  if (found === null) return 'its tags alone do not tell where its rows are';
  if (options.withStatistics && !found.isSole)
    return 'there may be more elements like those around its rows, and statistics are gathered';
  const ranges = await rangesBetween(parts, { ...found, bytes: member.diskBytes, sha256: '' }, modified);
  if (ranges === null) return 'its rows do not follow one another';
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

/** Whether an element of one of these names may lie within the last of them, each of which lies in the one before. */
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
  options: OneDocumentOptions,
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
  return (await readHead(member, names, session.limits, offset, consume)) ? shredder : null;
}

/** The document up to its byte `to`. False: it has a fault there. */
async function readHead(
  { parts, name }: InputMember,
  names: NameTable,
  limits: EngineLimits,
  to: number,
  consume: ConsumeBatch,
): Promise<boolean> {
  let isConsumed = true;
  const tokenizer = createXmlTokenizer({
    names,
    limits,
    fileName: name,
    onBatch: (batch) => {
      isConsumed = false;
      consume(batch, (record) => tokenizer.locate(record));
      isConsumed = true;
    },
  });
  let isRead = false;
  try {
    for await (const chunk of parts!.bytes({ from: 0, to })) tokenizer.write(chunk);
    isRead = true;
    // elements are open where it ends
    tokenizer.end();
  } catch (error) {
    // whoever reads the document says what is wrong with it
    if (!(error instanceof InputError)) throw error;
  }
  return isRead && isConsumed;
}

async function findLevel(member: InputMember, { session }: OneDocumentOptions): Promise<FoundLevel | null> {
  const finder = createLevelFinder();
  const bytes = Math.min(headBytes, member.diskBytes >> 1);
  const isRead = await readHead(member, createNameTable(), session.limits, bytes, finder.consume);
  return isRead ? finder.find(bytes) : null;
}

async function readCuts(
  { parts, diskBytes }: InputMember,
  cuts: NonNullable<ReturnType<typeof createLevelCuts>>,
  markBytes: number,
): Promise<LevelCuts | null> {
  for await (const chunk of parts!.bytes({ from: markBytes, to: diskBytes })) {
    if (!cuts.write(chunk)) return null;
    if (cuts.isDone) break;
  }
  return cuts.end();
}
