/** Documents to rows: the loop that ties tokeniser, shredder and sink together, with back-pressure end to end. */
import { createStatisticsCollector, type StatisticsCollector } from '../../engine/infer/collector.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { createIdentityChecker } from '../../engine/identity/checker.ts';
import { createShredder, type Shredder } from '../../engine/shred/shredder.ts';
import type { RowElementName } from '../../engine/shred/row-tag/elements.ts';
import { createNameTable } from '../../engine/xml/names/expanded-names.ts';
import { AppError } from '../../errors.ts';
import type { ExtraColumn } from '../../jobs/request/shape.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type { RowSink } from '../../ports/rows/sink.ts';
import {
  createDocumentCut,
  documentName,
  noDocumentsLeft,
  type DocumentConsumer,
  type DocumentCut,
} from './document-cut.ts';
import { extrasOf, unfilledExtras, valuesOf } from '../schemas/extra-values.ts';
import type { InputSet } from '../inputs/list-files.ts';
import { hashesToLoad, partHash } from './document-hashes.ts';
import { detailsOf, findingsOf, type LoadFindings } from './findings.ts';
import { readDocument } from '../inputs/read-document.ts';
import type { PassProgress } from '../reports/progress-lines.ts';
import { DocumentProbe } from './probe.ts';
import type { Rejects } from './rejects.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { InputMember } from '../inputs/members.ts';
import type { WrittenSoFar } from '../reports/conversion-result.ts';

export interface LoadOptions {
  readonly withStatistics: boolean;
  /** elements that are documents of their own; null: each file is one */
  readonly rowTag: RowElementName | null;
  /** XSDs are documents here, also by their name */
  readonly takesXsd: boolean;
  /** documents that are not to be loaded; what else is found is added */
  readonly rejects: Rejects;
}

/** What other processes or threads loaded. */
export interface DelegatedLoad {
  /** rows by table */
  readonly written: readonly number[];
  readonly findings: LoadFindings;
  readonly statistics: DocumentStatistics | null;
  /** highest keys given out, by table name; empty for keys that follow from the documents */
  readonly lastKeys: ReadonlyMap<string, number>;
}

/** What loading needs of a session and of a sink: also in a process that has neither job record nor target. */
export type LoaderSession = Pick<
  ToolSession,
  'request' | 'limits' | 'kernels' | 'idJob' | 'byHand' | 'log' | 'progress'
>;
export interface LoaderSink extends Pick<
  RowSink,
  'encoding' | 'widensInPlace' | 'write' | 'writeSide' | 'unconverted' | 'allowNull'
> {
  /** absent in a thread: whoever gives it documents has asked the target already */
  readonly loadedDocuments?: RowSink['loadedDocuments'];
}

export class Loader {
  readonly #session: LoaderSession;
  readonly #logical: StoredLogicalSchema;
  /** rows given to the sink, by table */
  #written: number[] = [];
  readonly #sink: LoaderSink;
  readonly #shredder: Shredder;
  readonly #probe: DocumentProbe | null;
  /** what fills the extra columns of each table, in their order */
  readonly #extras: readonly (ExtraColumn | null)[];
  readonly #cut: DocumentCut;
  readonly #names = createNameTable();
  readonly #withStatistics: boolean;
  #collector: StatisticsCollector | null;
  readonly #identity;
  readonly #totalBytes: number;
  readonly #rejects: Rejects;
  /** SHA-256 by input index, where it had to be known before; null: the document is not to be loaded */
  #hashes: readonly (string | null)[] | null = null;
  /** SHA-256 of the present file and document, where known; the document's is, when it ends */
  #fileHash: string | null = null;
  #sha256: string | null = null;
  #skipped = 0;
  #delegated: DelegatedLoad | null = null;
  #inputIndex = 0;
  #rowCount = 0;
  #bytes = 0;
  #diskBytes = 0;
  #path = '';
  #fileName = '';

  constructor(
    session: LoaderSession,
    logical: StoredLogicalSchema,
    sink: LoaderSink,
    { withStatistics, rowTag, rejects }: Pick<LoadOptions, 'withStatistics' | 'rowTag' | 'rejects'>,
    keyOffsets: ReadonlyMap<string, number>,
    totalBytes: number,
  ) {
    this.#session = session;
    this.#logical = logical;
    this.#sink = sink;
    this.#rejects = rejects;
    this.#totalBytes = totalBytes;
    const { request } = session;
    this.#extras = extrasOf(logical.model, request.extraColumns);
    for (const [table, column] of unfilledExtras(logical.model, this.#extras)) sink.allowNull(table, column);
    const shredding = {
      model: logical.model,
      names: this.#names,
      encoding: sink.encoding,
      idJob: session.idJob,
      keyOffsets,
      widensInPlace: sink.widensInPlace,
      unmapped: request.unmapped,
      keepsOtherRoots: request.keepsOtherRoots && request.root === undefined,
      extraValues: () =>
        valuesOf(this.#extras, {
          idJob: session.idJob,
          fileName: this.#fileName,
          filePath: session.byHand ? this.#path : this.#fileName,
        }),
    };
    this.#shredder = createShredder(shredding);
    this.#probe =
      request.onError === 'skip'
        ? new DocumentProbe(session, rejects, createShredder(shredding), rowTag, this.#names)
        : null;
    this.#withStatistics = withStatistics;
    this.#collector = this.#newCollector();
    this.#identity = createIdentityChecker(logical.model, this.#names);
    this.#cut = createDocumentCut(rowTag, this.#names, this.#documentConsumer());
  }

  #documentConsumer(): DocumentConsumer {
    const shredder = this.#shredder;
    const identity = this.#identity;
    const { keys } = this.#session.request;
    return {
      begin: (file, number, inherited) => {
        this.#sha256 = this.#fileHash === null ? null : partHash(this.#fileHash, number);
        const keyed = keys === 'hash' ? (this.#sha256 ?? undefined) : undefined;
        shredder.beginDocument(documentName(file, number), keyed, inherited);
        this.#collector?.beginDocument();
        identity?.beginDocument(documentName(file, number), inherited);
      },
      consume: (batch, locate) => {
        shredder.consume(batch, locate);
        this.#collector?.consume(batch);
        identity?.consume(batch, locate);
      },
      end: (bytes) => {
        shredder.endDocument({ sha256: this.#sha256!, bytes, loadedAt: new Date().toISOString() });
        this.#collector?.endDocument(bytes);
      },
    };
  }

  /**
   * `--on-error skip`: a document that is to be skipped must leave no row, so all are read once for their faults, before any
   * is read for its rows. Two walks, as a member of a tar archive passes by only once in each.
   */
  async probe(inputs: Pick<InputSet, 'members'>): Promise<void> {
    await this.#probe?.run(inputs);
  }

  /** `--skip-loaded`, `--keys hash`: what the target holds, or what stood among the inputs before, is not loaded. */
  async leaveOutLoaded(inputs: InputSet): Promise<void> {
    const known = await hashesToLoad(this.#session, inputs, this.#rejects, (hashes) =>
      this.#sink.loadedDocuments!(hashes),
    );
    this.#hashes = known.hashes;
    this.#skipped = known.skipped;
  }

  /** By input index; null: not to be loaded, or all are as they come. */
  get hashes(): readonly (string | null)[] | null {
    return this.#hashes;
  }

  /** The documents that follow, by their SHA-256; null: they are not known. */
  expect(hashes: readonly (string | null)[] | null): void {
    this.#hashes = hashes;
    this.#inputIndex = 0;
  }

  /** Takes the outcome of a load that other processes or threads did in place of this one. */
  adoptDelegated(loaded: DelegatedLoad): void {
    this.#written = [...loaded.written];
    this.#delegated = loaded;
  }

  /** The rows that follow are numbered from `key` on, documents from `document` on: neither is below what it is now. */
  numberFrom(key: number, document: number): void {
    this.#shredder.numberFrom(key, document);
  }

  /** Statistics of the documents since the last call; null where none were asked for. */
  takeStatistics(): DocumentStatistics | null {
    const statistics = this.#collector?.statistics ?? null;
    this.#collector = this.#newCollector();
    return statistics;
  }

  #newCollector(): StatisticsCollector | null {
    if (!this.#withStatistics) return null;
    return createStatisticsCollector(this.#names, { samples: !this.#session.request.noSamples });
  }

  async load(member: InputMember): Promise<void> {
    this.#path = member.path;
    this.#fileName = member.name;
    const inputIndex = this.#inputIndex;
    this.#inputIndex += 1;
    const known = this.#hashes?.[inputIndex];
    if (this.#rejects.has(inputIndex) || known === null) {
      this.#diskBytes += member.diskBytes;
      return;
    }
    this.#fileHash = known ?? null;
    this.#cut.beginFile(member.name, member.range);
    let read = 0;
    const { bytes, sha256 } = await readDocument(member, {
      names: this.#names,
      limits: this.#session.limits,
      kernels: this.#shredder.tokenizerKernels(),
      onBatch: (batch, locate) => this.#cut.consume(batch, locate),
      afterChunk: async (size) => {
        read += size;
        await this.#drain();
        const done = this.#diskBytes + Math.min(read, member.diskBytes);
        this.#session.progress(this.#totalBytes === 0 ? 0 : done / this.#totalBytes, {
          pass: 'loading',
          documents: this.#cut.count,
          bytes: this.#bytes + read,
          rows: this.#rowCount,
        });
      },
    });
    if (known !== undefined && known !== sha256)
      throw new AppError('unprocessable_input', `${member.path}: the file changed while it was read`);
    this.#sha256 ??= sha256;
    this.#cut.endFile(bytes);
    this.#bytes += bytes;
    this.#diskBytes += member.diskBytes;
  }

  /** Hands what the shredder finished to the sink; awaiting it is what holds the reader back. */
  async #drain(): Promise<void> {
    const { output, unconvertedValues, nullAllowed } = this.#shredder;
    // what leaves a cell empty is known before the row comes
    for (const unconverted of unconvertedValues.splice(0)) await this.#sink.unconverted(unconverted);
    for (const { table, column } of nullAllowed.splice(0)) this.#sink.allowNull(table, column);
    for (const chunk of output.chunks.splice(0)) {
      if (typeof chunk.table === 'number') {
        this.#written[chunk.table] = (this.#written[chunk.table] ?? 0) + chunk.rowCount;
        this.#rowCount += chunk.rowCount;
        await this.#sink.write(chunk.table, chunk.bytes, chunk.rowCount, (bytes) => output.recycle(bytes));
      } else await this.#sink.writeSide(chunk.table, chunk.bytes, chunk.rowCount);
    }
  }

  async flush(): Promise<void> {
    this.#shredder.output.flush();
    await this.#drain();
  }

  /** A job without a document must not be published: to overwrite with nothing is to delete. */
  requireDocuments(): void {
    if (this.findings().documents > 0 || this.#skipped > 0) return;
    throw noDocumentsLeft(this.#rejects, this.#session.request.rowTag);
  }

  /** What the job will have added once it is published. */
  written(): Omit<WrittenSoFar, 'chosen'> {
    const { model, idSch, idLschma } = this.#logical;
    const named = this.#written.map((rows, table) => [model.tables[table]!.name, rows] as const);
    const findings = this.findings();
    return {
      origin: idSch,
      logical: idLschma < 0 ? null : idLschma,
      documents: findings.documents,
      rejected: this.#rejects.messages.length - this.#rejects.unknownRoots,
      unknownRoots: this.#rejects.unknownRoots,
      kept: findings.kept,
      tables: Object.fromEntries(named.filter(([, rows]) => rows > 0)),
      unknown: findings.unmapped.length,
      bytes: findings.bytes,
      details: detailsOf(findings, this.#rejects.details),
    };
  }

  lastKeys(): ReadonlyMap<string, number> {
    return this.#delegated?.lastKeys ?? this.#shredder.lastKeys();
  }

  get writtenRows(): number {
    return this.#written.reduce((sum, rows = 0) => sum + rows, 0);
  }

  /** as far as it has come */
  get done(): Pick<PassProgress, 'documents' | 'bytes'> {
    return { documents: this.#cut.count, bytes: this.#bytes };
  }

  get skipped(): number {
    return this.#skipped;
  }

  get statistics(): DocumentStatistics | null {
    return this.#delegated === null ? (this.#collector?.statistics ?? null) : this.#delegated.statistics;
  }

  findings(): LoadFindings {
    if (this.#delegated !== null) return this.#delegated.findings;
    const { count: documents, outside } = this.#cut;
    const captures = this.#session.request.unmapped === 'capture';
    const counts = { documents, outside, bytes: this.#bytes };
    return findingsOf(counts, this.#shredder.deviations, captures, this.#identity);
  }
}
