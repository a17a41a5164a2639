/** Documents to rows: the loop that ties tokeniser, shredder and sink together, with back-pressure end to end. */
import { type Shredder, createShredder, type ShredderOptions } from '../../engine/shred/shredder.ts';
import type { RowSink, RowEncoding } from '../../ports/row-sink.ts';
import { placesOfPlan } from '../../engine/infer/declared-places.ts';
import { createStatisticsCollector, type StatisticsCollector } from '../../engine/infer/collector.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { createIdentityChecker } from '../../engine/identity/checker.ts';
import { membersOf } from '../../engine/model/packed/reader.ts';
import { type RowElementName, BetweenTags } from '../../engine/shred/row-tag/elements.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { AppError } from '../../errors.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import {
  createDocumentCut,
  documentName,
  noDocumentsLeft,
  type DocumentConsumer,
  type DocumentCut,
} from './document-cut.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import {
  hashesToLoad,
  hashHere,
  partHash,
  replacedFilesOf,
  type DocumentHashes,
  type HashInputs,
} from './document-hashes.ts';
import { detailsOf, findingsOf, type LoadFindings, type Rejects } from './findings.ts';
import { knownMember } from '../../inputs/readable-ranges.ts';
import {
  readDocument,
  type DocumentReader,
  type ReadDocument,
  walkDocument,
} from '../../inputs/read-document.ts';
import type { PassProgress } from '../reports/progress-lines.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { FilesOfDocuments, FindRemovedFiles } from '../session/watched-files.ts';
import type { InputMember, PlaceInDocument } from '../../inputs/members.ts';
import type { WrittenSoFar } from '../reports/conversion-result.ts';
import { InputError } from '../../engine/diagnostics.ts';
import type { NameTable } from '../../engine/xml/tokens.ts';
import { extrasOf, unfilledExtras, valuesOf } from '../schemas/extra-values.ts';
import type { EngineLimits } from '../../engine/limits.ts';
import { createTokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import { requestDefaults, type ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { ArchiveLimits } from '../../inputs/archives/kinds.ts';

// Hands the rows that the shredder finished to the sink. Awaiting the sink is the backpressure on the reader of documents.

/** The part of a sink that loading needs, also in a process that has no target. */
export interface LoaderSink extends Pick<
  RowSink,
  'encoding' | 'widensInPlace' | 'scalesDecimals' | 'write' | 'writeSide' | 'unconverted' | 'allowNull'
> {
  /** absent in a thread: the process that sends it documents has queried the target already */
  readonly loadedDocuments?: RowSink['loadedDocuments'];
  readonly currentDocuments?: RowSink['currentDocuments'];
  readonly unmappedContent?: RowSink['unmappedContent'];
}

interface DrainedRows {
  /** rows given to the sink, by table; tables without rows may be missing at the end */
  readonly byTable: readonly number[];
  readonly count: number;
  /** Hands over the finished rows. */
  drain(): Promise<void> | undefined;
  /** Finishes the rows that were begun, and hands them over. */
  flush(): Promise<void>;
}

function createDrainedRows(
  { output, unconvertedValues, nullAllowed }: Shredder,
  sink: LoaderSink,
): DrainedRows {
  const byTable: number[] = [];
  let count = 0;
  function drain(): Promise<void> | undefined {
    // most small documents end without any rows to hand over
    if (output.chunks.length + unconvertedValues.length + nullAllowed.length > 0) return handOver();
    return undefined;
  }
  async function handOver(): Promise<void> {
    // the reason for an empty cell is reported before its row
    for (const unconverted of unconvertedValues.splice(0)) await sink.unconverted(unconverted);
    for (const { table, column } of nullAllowed.splice(0)) sink.allowNull(table, column);
    for (const { table, bytes, rowCount } of output.chunks.splice(0)) {
      if (typeof table === 'number') {
        byTable[table] = (byTable[table] ?? 0) + rowCount;
        count += rowCount;
        await sink.write(table, bytes, rowCount, (spare) => output.recycle(spare));
      } else await sink.writeSide(table, bytes, rowCount);
    }
  }
  return {
    byTable,
    get count() {
      return count;
    },
    drain,
    async flush() {
      output.flush();
      await drain();
    },
  };
}

// The loader.

export interface LoadOptions {
  readonly withStatistics: boolean;
  /** elements that are documents of their own; null: each file is one */
  readonly rowTag: RowElementName | null;
  /** XSDs are documents here, also by their name */
  readonly takesXsd: boolean;
  /** documents that must not be loaded; others that are found are added */
  readonly rejects: Rejects;
  /** the schema evolves to include new content: documents with unmapped content are loaded again (`-S m`) */
  readonly evolves: boolean;
  /** for a watch: the documents that its files brought before */
  readonly filesOf?: FilesOfDocuments | undefined;
  /** `-S m`: finds files of other watches whose documents are replaced */
  readonly removedFiles?: FindRemovedFiles | undefined;
}

/** Figures of the documents that other processes or threads loaded. */
export interface DelegatedLoad {
  /** rows by table */
  readonly written: readonly number[];
  readonly findings: LoadFindings;
  readonly statistics: DocumentStatistics | null;
  /** highest keys given out, by table name; empty for keys that follow from the documents */
  readonly lastKeys: ReadonlyMap<string, number>;
}

/** The part of a session that loading needs, also in a process that has no job record. */
export type LoaderSession = Pick<
  ToolSession,
  'request' | 'limits' | 'kernels' | 'idJob' | 'jobUuid' | 'byHand' | 'log' | 'progress'
>;

/** The settings of a load, which do not change while documents are loaded. */
interface LoadContext {
  readonly session: LoaderSession;
  readonly logical: StoredLogicalSchema;
  readonly sink: LoaderSink;
  readonly rejects: Rejects;
  readonly rowTag: RowElementName | null;
  readonly withStatistics: boolean;
  readonly evolves: boolean;
  readonly filesOf: FilesOfDocuments | undefined;
  readonly removedFiles: FindRemovedFiles | undefined;
  /** size of all inputs, for progress */
  readonly totalBytes: number;
}

/** The file that is read now, and the document of it. */
interface PresentFile extends FileOfRows {
  diskBytes: number;
  /** SHA-256 of the file and of the document, if known; the document's is known at its end */
  sha256: string | null;
  documentSha256: string | null;
  /** for a range: offset after its last byte */
  endOffset: number;
  /** the range of one document that is read; null: a whole one, or parts of it that are documents */
  within: PlaceInDocument | null;
}

/** Decides which inputs are documents to be loaded. */
interface Selection {
  /** SHA-256 by input index, if it had to be known before; null: the document is not to be loaded */
  known: DocumentHashes;
  nextIndex: number;
}

/** Bytes between two progress reports: the end of each small document is not reported. */
const bytesUntold = 64 * 1024;

export class Loader {
  readonly #context: LoadContext;
  readonly #names = createNameTable();
  readonly #shredder: Shredder;
  readonly #rows: DrainedRows;
  readonly #probe: DocumentProbe | null;
  readonly #cut: DocumentCut;
  readonly #between: BetweenTags;
  readonly #reader: DocumentReader;
  readonly #identity;
  #collector: StatisticsCollector | null;
  #delegated: DelegatedLoad | null = null;
  readonly #present: PresentFile = {
    diskBytes: 0,
    path: '',
    name: '',
    carried: undefined,
    sha256: null,
    documentSha256: null,
    endOffset: 0,
    within: null,
  };
  readonly #selection: Selection = { known: { hashes: null, skipped: 0 }, nextIndex: 0 };
  /** bytes of the documents, and of their files on disk */
  readonly #read = { bytes: 0, diskBytes: 0 };
  /** number of bytes at the last progress report */
  #toldBytes = -bytesUntold;

  constructor(
    session: LoaderSession,
    logical: StoredLogicalSchema,
    sink: LoaderSink,
    {
      withStatistics,
      rowTag,
      rejects,
      evolves = false,
      filesOf,
      removedFiles,
    }: Pick<LoadOptions, 'withStatistics' | 'rowTag' | 'rejects'> &
      Partial<Pick<LoadOptions, 'evolves' | 'filesOf' | 'removedFiles'>>,
    keyOffsets: ReadonlyMap<string, number>,
    totalBytes: number,
  ) {
    this.#context = {
      session,
      logical,
      sink,
      rejects,
      rowTag,
      withStatistics,
      evolves,
      filesOf,
      removedFiles,
      totalBytes,
    };
    const { request } = session;
    const shredding = shreddingOf({ session, logical, sink, keyOffsets }, this.#names, this.#present);
    this.#shredder = createShredder(shredding);
    this.#rows = createDrainedRows(this.#shredder, sink);
    this.#probe =
      request.onError === 'skip'
        ? new DocumentProbe(session, rejects, createShredder(shredding), rowTag, this.#names)
        : null;
    this.#collector = this.#newCollector();
    this.#identity = createIdentityChecker(logical.model, this.#names);
    this.#between = new BetweenTags((batch, locate) => this.#shredder.consume(batch, locate));
    this.#cut = createDocumentCut(rowTag, this.#names, this.#documentConsumer());
    this.#reader = {
      names: this.#names,
      limits: session.limits,
      kernels: this.#shredder.tokenizerKernels(),
      onBatch: (batch, locate) => this.#cut.consume(batch, locate),
      afterChunk: (_, read) => {
        const drained = this.#rows.drain();
        return drained === undefined
          ? this.#tellProgress(read)
          : drained.then(() => this.#tellProgress(read));
      },
      beforeTrail: () => this.#between.endAt(this.#present.endOffset),
    };
  }

  #documentConsumer(): DocumentConsumer {
    const shredder = this.#shredder;
    const identity = this.#identity;
    const present = this.#present;
    const { keys, saveMode } = this.#context.session.request;
    // if the first part of a file is loaded, all are; a merge identifies each part by its hash
    const tellsParts = saveMode === 'merge';
    const timeText = createTimeTexts();
    return {
      begin: (file, number, inherited, within) => {
        const isTold = tellsParts || (number ?? 1) === 1;
        const isNeeded = present.sha256 !== null && (isTold || keys === 'hash');
        const sha256 = isNeeded ? partHash(present.sha256!, number) : null;
        present.documentSha256 = isTold ? sha256 : null;
        const keyed = keys === 'hash' ? (sha256 ?? undefined) : undefined;
        present.within = within ?? null;
        if (within === undefined) shredder.beginDocument(documentName(file, number), keyed, inherited);
        else {
          shredder.resumeDocument(documentName(file, number), within.open);
          this.#between.begin(within.open.names.length);
        }
        this.#collector?.beginDocument(inherited);
        identity?.beginDocument(documentName(file, number), inherited);
      },
      take: (batch, at, part) => {
        // the first part is reported, and statistics and checks are computed for each part
        if (part.number === 1 || tellsParts || this.#collector !== null || identity !== null) return null;
        const sha256 = keys === 'hash' ? present.sha256 : null;
        const taken = shredder.takeParts(batch, at, { ...part, sha256, loadedAt: timeText(Date.now()) });
        if (taken === null) return null;
        present.within = null;
        present.documentSha256 = null;
        return taken;
      },
      consume: (batch, locate, first) => {
        if (present.within === null) shredder.consume(batch, locate, first);
        else this.#between.consume(batch, locate);
        this.#collector?.consume(batch);
        identity?.consume(batch, locate);
      },
      end: (bytes) => {
        const { within, documentSha256: sha256 } = present;
        const loadedAt = timeText(Date.now());
        if (within === null || within.isLast)
          shredder.endDocument({ sha256, bytes: within?.bytes ?? bytes, loadedAt });
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

  /**
   * Leaves out documents that are unchanged in the target, or that occurred before among the inputs (`-S m`, `--skip-loaded`, `--keys
   * hash`). `byOthers`: threads or executors load the rest.
   */
  async leaveOutLoaded(inputs: InputSet, byOthers: boolean, hash: HashInputs = hashHere): Promise<void> {
    const { session, rejects, sink, logical, rowTag, evolves, filesOf, removedFiles } = this.#context;
    const { model } = logical;
    if (session.request.saveMode !== 'merge') {
      this.#selection.known = await hashesToLoad(session, inputs, rejects, sink, byOthers, hash);
      return;
    }
    const { chooseMerged } = await import('./merged-documents.ts');
    const currentDocuments = sink.currentDocuments?.bind(sink);
    const unmappedContent = sink.unmappedContent?.bind(sink);
    this.#selection.known = await chooseMerged(session, {
      inputs,
      rejects,
      model,
      rowTag,
      evolves,
      currentDocuments,
      unmappedContent,
      filesOf,
      removedFiles,
    });
  }

  /** The documents that are to be loaded, once they are known. */
  get known(): DocumentHashes {
    return this.#selection.known;
  }

  /** The documents that follow: those of the inputs after one another. */
  expect(known: Pick<DocumentHashes, 'hashes' | 'leftOut'>): void {
    this.#selection.known = { ...known, skipped: 0 };
    this.#selection.nextIndex = 0;
  }

  /** Takes the outcome of a load that other processes or threads did in place of this one. */
  adoptDelegated(loaded: DelegatedLoad): void {
    this.#delegated = loaded;
  }

  /** The rows that follow get keys above `key`, documents keys above `document`. */
  numberFrom(key: number, document: number): void {
    this.#shredder.numberFrom(key, document);
  }

  /** Returns statistics of the documents since the last call, or null if none were requested. */
  takeStatistics(): DocumentStatistics | null {
    const statistics = this.#collector?.statistics ?? null;
    this.#collector = this.#newCollector();
    return statistics;
  }

  #newCollector(): StatisticsCollector | null {
    const { withStatistics, session, logical } = this.#context;
    if (!withStatistics) return null;
    return createStatisticsCollector(this.#names, {
      samples: !session.request.noSamples,
      places: placesOfPlan(logical.model, this.#names),
    });
  }

  /**
   * Loads a document. A small one is loaded before this returns; otherwise returns a promise that the caller must await before the
   * next.
   */
  load(member: InputMember): Promise<void> | undefined {
    const sha256 = this.#hashOfNext();
    if (sha256 === null) {
      this.#read.diskBytes += member.diskBytes;
      return undefined;
    }
    const present = this.#present;
    present.diskBytes = member.diskBytes;
    present.path = member.path;
    present.name = member.name;
    present.carried = member.carried;
    present.sha256 = sha256 ?? null;
    present.endOffset = member.range?.to ?? 0;
    this.#cut.beginFile(
      member.name,
      member.range,
      this.#selection.known.leftOut?.get(this.#selection.nextIndex - 1),
    );
    const modified = this.#selection.known.modified?.[this.#selection.nextIndex - 1] ?? null;
    const known = sha256 === undefined || modified === null ? member : knownMember(member, sha256, modified);
    const document = readDocument(known, this.#reader);
    if (document instanceof Promise) return document.then((read) => this.#ended(member, read));
    this.#ended(member, document);
    return undefined;
  }

  #ended({ path, diskBytes }: InputMember, { bytes, sha256 }: ReadDocument): void {
    const present = this.#present;
    if (present.sha256 !== null && present.sha256 !== sha256)
      throw new AppError('unprocessable_input', `${path}: the file changed while it was read`);
    present.documentSha256 ??= sha256;
    this.#cut.endFile(bytes);
    this.#read.bytes += bytes;
    this.#read.diskBytes += diskBytes;
  }

  /** Returns the SHA-256 of the next input, undefined if it is not known before it is read, or null if the input is not to be loaded. */
  #hashOfNext(): string | null | undefined {
    const index = this.#selection.nextIndex;
    this.#selection.nextIndex += 1;
    return this.#context.rejects.has(index) ? null : this.#selection.known.hashes?.[index];
  }

  /** `readBytes`: of the present file */
  #tellProgress(readBytes: number): void {
    const { session, totalBytes } = this.#context;
    const bytes = this.#read.bytes + readBytes;
    if (bytes - this.#toldBytes < bytesUntold) return;
    this.#toldBytes = bytes;
    const done = this.#read.diskBytes + Math.min(readBytes, this.#present.diskBytes);
    session.progress(totalBytes === 0 ? 0 : done / totalBytes, {
      pass: 'loading',
      documents: this.#cut.count,
      bytes,
      rows: this.#rows.count,
    });
  }

  async flush(): Promise<void> {
    await this.#rows.flush();
  }

  /**
   * A job without a document must not be published: overwriting with no documents would delete them all. A job of a watch may consist
   * of removed files alone.
   */
  requireDocuments(): void {
    const { rowTag, watched } = this.#context.session.request;
    const { superseded = 0 } = this.#selection.known;
    if (this.findings().documents > 0 || this.skipped + superseded > 0 || watched?.files.length === 0) return;
    throw noDocumentsLeft(this.#context.rejects, rowTag);
  }

  /** The rows by table that publishing will add. */
  written(): Omit<WrittenSoFar, 'chosen'> {
    const { rejects, logical } = this.#context;
    const { model, idSch, idLschma } = logical;
    const names = membersOf(model.tables, 'name');
    const named = this.#rowsByTable().map((rows, table) => [names[table]!, rows] as const);
    const findings = this.findings();
    return {
      origin: idSch,
      logical: idLschma < 0 ? null : idLschma,
      documents: findings.documents,
      rejected: rejects.messages.length - rejects.unknownRoots,
      unknownRoots: rejects.unknownRoots,
      kept: findings.kept,
      tables: Object.fromEntries(named.filter(([, rows]) => rows > 0)),
      unknown: findings.unmapped.length,
      bytes: findings.bytes,
      details: {
        ...detailsOf(findings, rejects.details),
        ...replacedFilesOf(this.#selection.known),
      },
    };
  }

  lastKeys(): ReadonlyMap<string, number> {
    return this.#delegated?.lastKeys ?? this.#shredder.lastKeys();
  }

  get writtenRows(): number {
    return this.#rowsByTable().reduce((sum, rows = 0) => sum + rows, 0);
  }

  #rowsByTable(): readonly number[] {
    return this.#delegated?.written ?? this.#rows.byTable;
  }

  /** progress so far */
  get done(): Pick<PassProgress, 'documents' | 'bytes'> {
    return { documents: this.#cut.count, bytes: this.#read.bytes };
  }

  get skipped(): number {
    return this.#selection.known.skipped;
  }

  get statistics(): DocumentStatistics | null {
    return this.#delegated === null ? (this.#collector?.statistics ?? null) : this.#delegated.statistics;
  }

  findings(): LoadFindings {
    if (this.#delegated !== null) return this.#delegated.findings;
    const { count: documents, outside } = this.#cut;
    const captures = this.#context.session.request.unmapped === 'capture';
    const counts = { documents, outside, bytes: this.#read.bytes };
    return findingsOf(counts, this.#shredder.deviations, captures, this.#identity);
  }
}

/** Times as `2026-01-31T12:00:00.000Z`, made once for all documents that ended in the same millisecond. */
function createTimeTexts(): (time: number) => string {
  let last = Number.NaN;
  let text = '';
  return (time) => {
    if (time !== last) text = new Date(time).toISOString();
    last = time;
    return text;
  };
}

// Documents that are read for their faults alone.

class DocumentProbe {
  readonly #session: Pick<ToolSession, 'limits' | 'progress'>;
  readonly #rejects: Rejects;
  readonly #shredder: Shredder;
  readonly #names: NameTable;
  readonly #cut: DocumentCut;
  #bytes = 0;

  /** `shredder`: one of its own, whose rows go nowhere. */
  constructor(
    session: Pick<ToolSession, 'limits' | 'progress'>,
    rejects: Rejects,
    shredder: Shredder,
    rowTag: RowElementName | null,
    names: NameTable,
  ) {
    this.#session = session;
    this.#rejects = rejects;
    this.#shredder = shredder;
    this.#names = names;
    this.#cut = createDocumentCut(rowTag, names, {
      begin: (file, number, inherited) =>
        shredder.beginDocument(documentName(file, number), undefined, inherited),
      consume: (batch, locate) => shredder.consume(batch, locate),
      end: () => undefined,
    });
  }

  /** Adds the documents with faults to the rejects. */
  async run(inputs: Pick<InputSet, 'members'>): Promise<void> {
    let inputIndex = 0;
    for await (const member of inputs.members()) {
      if (!this.#rejects.has(inputIndex)) await this.#test(member, inputIndex);
      inputIndex += 1;
    }
  }

  async #test(member: InputMember, inputIndex: number): Promise<void> {
    const { output, unconvertedValues, nullAllowed } = this.#shredder;
    this.#cut.beginFile(member.name, member.range);
    try {
      await walkDocument(member, {
        names: this.#names,
        limits: this.#session.limits,
        kernels: this.#shredder.tokenizerKernels(),
        onBatch: (batch, locate) => this.#cut.consume(batch, locate),
        afterChunk: (size) => {
          this.#bytes += size;
          const done = { documents: inputIndex, bytes: this.#bytes, rows: null };
          this.#session.progress(0, { pass: 'checking', ...done });
          output.chunks.length = 0;
          unconvertedValues.length = 0;
          nullAllowed.length = 0;
        },
      });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      await this.#rejects.add(inputIndex, error);
    }
  }
}

// The settings for shredding the documents of a load.

/** The file that is shredded, as extra columns have it. */
interface FileOfRows {
  path: string;
  name: string;
  carried: InputMember['carried'];
}

export interface Shredding {
  readonly session: Pick<ToolSession, 'request' | 'idJob' | 'jobUuid' | 'byHand'>;
  readonly logical: StoredLogicalSchema;
  readonly sink: Pick<RowSink, 'encoding' | 'widensInPlace' | 'scalesDecimals' | 'allowNull'>;
  /** last keys in use, by table name */
  readonly keyOffsets: ReadonlyMap<string, number>;
}

const noExtras: readonly (string | null)[] = [];

/** `present`: asked for its values when a document begins. */
export function shreddingOf(
  { session, logical, sink, keyOffsets }: Shredding,
  names: NameTable,
  present: FileOfRows,
): ShredderOptions {
  const { request, idJob, jobUuid, byHand } = session;
  const extras = extrasOf(logical.model, request.extraColumns);
  for (const [table, column] of unfilledExtras(logical.model, extras)) sink.allowNull(table, column);
  return {
    model: logical.model,
    names,
    encoding: sink.encoding,
    idJob,
    jobUuid,
    keyOffsets,
    widensInPlace: sink.widensInPlace,
    scalesDecimals: sink.scalesDecimals,
    unmapped: request.unmapped,
    keepsOtherRoots: request.keepsOtherRoots && request.root === undefined,
    extraValues: () =>
      extras.length === 0
        ? noExtras
        : valuesOf(extras, {
            idJob,
            fileName: present.name,
            filePath: byHand ? present.path : present.name,
            carried: present.carried,
          }),
  };
}

// The description of a load that tasks on Spark and threads of `--workers` get, so that they load documents as this process would.

/** The settings for reading documents. Plain data: it can be written as JSON, and sent to a thread. */
export interface ReadingJob {
  readonly rowTag: RowElementName | null;
  readonly takesXsd: boolean;
  readonly limits: EngineLimits;
  readonly archiveLimits: ArchiveLimits;
  readonly links: 'follow' | 'refuse';
}

/** Plain data, too. */
export interface LoadingJob extends ReadingJob {
  readonly idJob: number;
  readonly jobUuid: string;
  readonly byHand: boolean;
  readonly request: Pick<
    ToolRequest,
    'keys' | 'saveMode' | 'unmapped' | 'keepsOtherRoots' | 'extraColumns' | 'noSamples' | 'root' | 'rowTag'
  >;
  readonly encoding: RowEncoding;
  readonly widensInPlace: boolean;
  readonly scalesDecimals: boolean;
  readonly withStatistics: boolean;
}

export function readingJob(
  { limits, archiveLimits, byHand }: Pick<ToolSession, 'limits' | 'archiveLimits' | 'byHand'>,
  { rowTag, takesXsd }: Pick<LoadOptions, 'rowTag' | 'takesXsd'>,
): ReadingJob {
  return { rowTag, takesXsd, limits, archiveLimits, links: byHand ? 'follow' : 'refuse' };
}

export function loadingJob(session: ToolSession, sink: RowSink, options: LoadOptions): LoadingJob {
  const { keys, saveMode, unmapped, keepsOtherRoots, extraColumns, noSamples, root, rowTag } =
    session.request;
  return {
    idJob: session.idJob,
    jobUuid: session.jobUuid,
    byHand: session.byHand,
    request: {
      keys,
      saveMode,
      unmapped,
      keepsOtherRoots,
      extraColumns,
      noSamples,
      ...(root === undefined ? {} : { root }),
      ...(rowTag === undefined ? {} : { rowTag }),
    },
    ...readingJob(session, options),
    encoding: sink.encoding,
    widensInPlace: sink.widensInPlace,
    scalesDecimals: sink.scalesDecimals,
    withStatistics: options.withStatistics,
  };
}

/** The session of a loader in another process: it reports nothing, because its findings are handed over when it ends. */
export function loaderSession(job: LoadingJob, onError: ToolRequest['onError'] = 'fail'): LoaderSession {
  return {
    request: { ...requestDefaults, tool: 'xml2er', ...job.request, onError },
    limits: job.limits,
    kernels: createTokenizerKernels(),
    idJob: job.idJob,
    jobUuid: job.jobUuid,
    byHand: job.byHand,
    log: () => undefined,
    progress: () => undefined,
  };
}
