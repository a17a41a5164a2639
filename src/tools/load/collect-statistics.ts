/** Statistics of documents, in one pass. */
import { createStatisticsCollector } from '../../engine/infer/collector.ts';
import { placesOfDeclarations } from '../../engine/infer/declared-places.ts';
import type { SourceModel } from '../../engine/model/source-model.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import { createRootCheck, type RootRule } from '../../engine/shred/open-document.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import type { OriginFile } from '../../ports/stores/catalog.ts';
import { createDocumentCut, documentName } from './document-cut.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import type { PassProgress } from '../reports/progress-lines.ts';
import { readDocument } from '../../inputs/read-document.ts';
import type { Rejects } from './findings.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { InputMember } from '../../inputs/members.ts';

export interface CollectedStatistics {
  readonly statistics: DocumentStatistics;
  /** files that were read; with a row tag a file is many documents */
  readonly files: readonly OriginFile[];
  readonly documents: number;
  /** size of the files */
  readonly bytes: number;
}

/** A pass over the documents of a job. */
export interface StatisticsPass {
  readonly inputs: InputSet;
  readonly rowTag: RowElementName | null;
  readonly roots: RootRule;
  /** source model of the XSD set that the documents are read with; null: names alone tell elements apart */
  readonly source: SourceModel | null;
  /** XSDs are documents here, also by their name */
  readonly takesXsd: boolean;
  /** documents that are left out */
  readonly rejects: Rejects;
  /** 0 … 1 */
  readonly progress: (fraction: number, done?: PassProgress) => void;
}

/** Collects in this process. InputError: see collectStatistics. */
export function collectHere(
  { limits, request }: Pick<ToolSession, 'limits' | 'request'>,
  { inputs, rowTag, roots, source, rejects, progress }: StatisticsPass,
): Promise<CollectedStatistics> {
  let disk = 0;
  const members = async function* (): AsyncIterable<InputMember> {
    let inputIndex = 0;
    for await (const member of inputs.members()) {
      if (!rejects.has(inputIndex)) yield member;
      disk += member.diskBytes;
      inputIndex += 1;
    }
  };
  return collectStatistics(members(), {
    limits,
    rowTag,
    roots,
    source,
    noSamples: request.noSamples,
    afterPiece: ({ diskBytes }, read, sofar) =>
      progress((disk + Math.min(read, diskBytes)) / Math.max(1, inputs.totalBytes), {
        pass: 'reading',
        ...sofar,
        rows: null,
      }),
  });
}

export interface Collecting extends Pick<ToolSession, 'limits'> {
  /** elements that are documents of their own; null: each file is one */
  readonly rowTag: RowElementName | null;
  readonly roots: RootRule;
  readonly source: SourceModel | null;
  /** `--no-samples` */
  readonly noSamples: boolean;
  /** called after every piece of a file, with the bytes read of it and of all files */
  readonly afterPiece: (
    member: InputMember,
    read: number,
    sofar: Pick<PassProgress, 'documents' | 'bytes'>,
  ) => void;
}

/** InputError: a document is not well-formed, over a limit, or starts as none may. */
export async function collectStatistics(
  members: AsyncIterable<InputMember>,
  { limits, rowTag, roots, source, noSamples, afterPiece }: Collecting,
): Promise<CollectedStatistics> {
  const names = createNameTable();
  const collector = createStatisticsCollector(names, {
    samples: !noSamples,
    ...(source === null ? {} : { places: placesOfDeclarations(source, names) }),
  });
  const check = createRootCheck(roots, names);
  const documents = createDocumentCut(rowTag, names, {
    begin: (file, number, inherited) => {
      check.begin(documentName(file, number));
      collector.beginDocument(inherited);
    },
    consume: (batch, locate) => {
      check.consume(batch, locate);
      collector.consume(batch);
    },
    end: (bytes) => collector.endDocument(bytes),
  });
  const kernels = collector.tokenizerKernels();
  const files: OriginFile[] = [];
  let total = 0;
  for await (const member of members) {
    documents.beginFile(member.name, member.range);
    let read = 0;
    const { bytes, sha256 } = await readDocument(member, {
      names,
      limits,
      kernels,
      onBatch: (batch, locate) => documents.consume(batch, locate),
      afterChunk: (size) => {
        read += size;
        afterPiece(member, read, { documents: documents.count, bytes: total + read });
      },
    });
    documents.endFile(bytes);
    total += bytes;
    files.push({ name: member.name, bytes, sha256 });
  }
  return { statistics: collector.statistics, files, documents: documents.count, bytes: total };
}
