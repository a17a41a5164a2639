/** Documents of a load in their order, in units that threads take one after the other, with ranges of keys. */
import { createHash } from 'node:crypto';
import type { RowSink } from '../../../ports/row-sink.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { InputSet } from '../../../inputs/list-files.ts';
import type { DocumentRange, InputMember } from '../../../inputs/members.ts';
import { smallFileBytes } from '../../../inputs/open-file.ts';
import { hashDocument } from '../../../inputs/read-document.ts';
import { rangesAsFound, splitDocument } from '../../../inputs/readable-ranges.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import type { DocumentHashes } from '../document-hashes.ts';
import { KeyRanges, type KeyRange } from '../document-cut.ts';
import { cutOrSay } from '../one-document.ts';
import type { LoadOptions } from '../row-loader.ts';
import type { UnitMember } from '../spark/work.ts';
import type { ThreadUnit, Threads } from './pool.ts';

export interface ThreadLoad {
  readonly inputs: InputSet;
  readonly logical: StoredLogicalSchema;
  readonly sink: RowSink;
  readonly options: LoadOptions;
  /** choice of the documents to load */
  readonly known: Pick<DocumentHashes, 'hashes' | 'leftOut'>;
}

const maxUnitDocuments = 256;
/** least share of all input bytes for a document that is cut without a row tag */
const smallShare = 1 / 16;

interface PlacedUnit {
  readonly unit: ThreadUnit;
  /** bytes on disk, for progress */
  readonly diskBytes: number;
}

interface Placing {
  /** rows that the target holds */
  readonly keyOffsets: ReadonlyMap<string, number>;
  readonly unitBytes: number;
  /** whether to stop making units, because one is at fault; the units before it are still needed */
  readonly isOver: () => boolean;
}

/** Large documents in ranges. */
export async function* unitsOf(
  session: ToolSession,
  { inputs, logical, sink, options, known }: ThreadLoad,
  threads: Threads,
  { keyOffsets, unitBytes, isOver }: Placing,
): AsyncGenerator<PlacedUnit> {
  const { limits, kernels } = session;
  let members: UnitMember[] = [];
  let number = 0;
  let diskBytes = 0;
  let packed = false;
  let firstIndex = 0;
  const tooMany = '--workers: there are too many documents to number; omit it';
  const keyRanges = new KeyRanges(keyOffsets, options.rowTag !== null, tooMany);
  const nextKeys = (): KeyRange => keyRanges.next({ firstIndex, bytes: diskBytes, packed });
  const cut = (keys = nextKeys()): PlacedUnit => {
    const placed = { unit: { number, members, ...keys }, diskBytes };
    number += 1;
    members = [];
    diskBytes = 0;
    packed = false;
    return placed;
  };
  let inputIndex = -1;
  let file = '';
  const { rowTag, rejects } = options;
  const { withStatistics } = options;
  const oneDocument = { session, logical, sink, withStatistics, rangeBytes: unitBytes };
  // smaller ones are shared out as they are
  const isShared = (bytes: number): boolean =>
    rowTag === null && bytes > unitBytes && bytes > inputs.totalBytes * smallShare;
  for await (const member of inputs.members()) {
    if (isOver()) return;
    inputIndex += 1;
    const { source, name, path, diskBytes: bytes } = member;
    // members of an archive that has to be read from its start stay together
    const splits = source.file !== file || source.direct;
    file = source.file;
    const full = diskBytes + bytes > unitBytes || members.length >= maxUnitDocuments;
    if (members.length > 0 && full && splits) yield cut();
    const hash = known.hashes?.[inputIndex];
    if (rejects.has(inputIndex) || hash === null) {
      diskBytes += bytes;
      continue;
    }
    if (members.length === 0) firstIndex = inputIndex;
    packed ||= source.packed;
    const leftOut = known.leftOut?.get(inputIndex);
    if (rowTag !== null && (hash !== undefined || session.request.saveMode !== 'merge')) {
      // only the file's first document, which waits for it, reports the file's SHA-256
      const hashing = hash === undefined ? createHash('sha256') : null;
      const document = {
        ...source,
        name,
        path,
        inputIndex,
        sha256: hash ?? '',
        ...(leftOut === undefined ? {} : { leftOut }),
      };
      const finding = { rowTag, rangeBytes: unitBytes, sha256: document.sha256 };
      let waiting: PlacedUnit | null = null;
      let isCut = false;
      for await (const range of rangesAsFound(member, finding, (chunk) => hashing?.update(chunk))) {
        isCut = true;
        members.push({ ...document, range });
        diskBytes += range.to - range.from;
        if (hashing === null || range.number > 1) yield cut();
        else waiting = cut();
        if (isOver()) break;
      }
      if (waiting !== null) yield withHash(waiting, hashing!.digest('hex'));
      if (isCut) continue;
    }
    const ranges =
      rowTag === null
        ? null
        : await splitDocument(member, {
            rowTag,
            limits,
            kernels,
            rangeBytes: unitBytes,
            ...(hash === undefined ? {} : { sha256: hash }),
          });
    const sha256 = hash ?? (rowTag === null ? '' : (ranges?.[0]!.sha256 ?? (await hashDocument(member))));
    const named = { ...source, name, path, inputIndex, sha256 };
    const whole: UnitMember = leftOut === undefined ? named : { ...named, leftOut };
    for (const range of ranges ?? []) {
      members.push({ ...whole, range });
      diskBytes += range.to - range.from;
      yield cut();
    }
    if (ranges !== null) continue;
    let hashing: Promise<string> | string | null = hash ?? null;
    const hashBeside = (): void => {
      hashing ??= hashOf(member, threads);
      // the fault is handled when the hash is needed
      if (typeof hashing !== 'string') hashing.catch(() => undefined);
    };
    const document = isShared(bytes)
      ? await cutOrSay(session, member, oneDocument, { onPass: hashBeside })
      : null;
    if (document !== null) {
      const hashed = { ...whole, sha256: (await hashing)! };
      let at = 0;
      let opened: readonly DocumentRange[] = [];
      for (const range of document.ranges) {
        diskBytes += range.to - range.from;
        const keys = nextKeys();
        if (at === 0) opened = await document.opened(keys);
        members.push({ ...hashed, range: { ...opened[at]!, sha256: hashed.sha256 } });
        at += 1;
        yield cut(keys);
      }
      continue;
    }
    members.push(whole);
    diskBytes += bytes;
  }
  if (members.length > 0) yield cut();
}

/** A unit of one range, of a file with that SHA-256. */
function withHash({ unit, diskBytes }: PlacedUnit, sha256: string): PlacedUnit {
  const members = unit.members.map((member) => ({
    ...member,
    sha256,
    range: { ...member.range!, sha256 },
  }));
  return { unit: { ...unit, members }, diskBytes };
}

/** Hashes a large file in a thread, while this thread looks for places to cut it. */
async function hashOf(member: InputMember, threads: Threads): Promise<string> {
  const isFile = member.parts !== undefined && member.diskBytes > smallFileBytes;
  const sha256 = isFile ? await threads.lend((thread) => thread.hash(member.source.file)) : null;
  // a file that could not be read fails here, with the reason
  return sha256 ?? hashDocument(member);
}
