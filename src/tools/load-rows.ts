/** Documents to rows to a target: the loop that ties tokeniser, shredder and sink together, with back-pressure end to end. */
import { createHash } from 'node:crypto';
import { InputError } from '../engine/diagnostics.ts';
import type { DocumentStatistics } from '../engine/infer/statistics.ts';
import { createIdentityChecker } from '../engine/identity/identity-checker.ts';
import { createStatisticsCollector } from '../engine/infer/collector.ts';
import { createShredder, type Shredder } from '../engine/shred/shredder.ts';
import type { RowElementName } from '../engine/shred/row-elements.ts';
import { createNameTable } from '../engine/xml/name-table.ts';
import { withNaturalKeys } from '../catalog/logical-schema.ts';
import { AppError } from '../errors.ts';
import type { StoredLogicalSchema } from '../ports/catalog-store.ts';
import type { RowSink } from '../ports/row-sink.ts';
import type { ConversionDetails } from './conversion.ts';
import {
  createDocumentCut,
  documentName,
  noDocumentsLeft,
  type DocumentConsumer,
  type DocumentCut,
} from './document-cut.ts';
import { identityReport } from './identity-report.ts';
import type { InputMember, InputSet } from './input-files.ts';
import { hashDocument, readDocument } from './read-document.ts';
import type { Rejects } from './rejects.ts';
import { loadOnSpark, type LoadedApart } from './load-on-spark.ts';
import type { ToolSession, WrittenSoFar } from './tool-session.ts';

export interface LoadResult {
  readonly documents: number;
  /** left out, as the target holds them already */
  readonly skipped: number;
  readonly details: ConversionDetails;
  readonly rows: Readonly<Record<string, number>>;
  readonly unknownPaths: number;
  readonly bytes: number;
  /** of the documents that were loaded, when asked for */
  readonly statistics: DocumentStatistics | null;
  readonly steps: readonly (readonly [string, number])[];
}

export interface LoadOptions {
  readonly withStatistics: boolean;
  /** elements that are documents of their own; null: each file is one */
  readonly rowTag: RowElementName | null;
  /** documents that are not to be loaded; what else is found is added */
  readonly rejects: Rejects;
  /** called before the first document is read; not at all where none is to be */
  readonly check: () => Promise<void>;
}

export async function loadRows(
  session: ToolSession,
  inputs: InputSet,
  logical: StoredLogicalSchema,
  sink: RowSink,
  options: LoadOptions,
): Promise<LoadResult> {
  const { request } = session;
  if ((request.workers ?? 1) > 1) session.log('--workers: this version loads documents one after the other');
  const steps: [string, number][] = [];
  const started = performance.now();
  const { catalog } = session.home.adapters;
  const naturalKeys = await catalog.listNaturalKeys(session.idOrg, logical.idSch);
  const opened = await sink.open({
    model: withNaturalKeys(logical.model, naturalKeys),
    saveMode: request.saveMode,
    idJob: session.idJob,
    installation: await catalog.installation(),
    idSch: logical.idSch,
    idLschma: logical.idLschma,
    allTables: request.tables === 'all' || request.saveMode === 'w',
    keys: request.keys,
  });
  const loader = new Loader(session, logical, sink, options, await sink.keyOffsets(), inputs.totalBytes);
  if (opened === 'load') {
    await options.check();
    await loader.probe(inputs);
    await loader.leaveOutLoaded(inputs);
    if (request.engine === 'spark') {
      const work = { inputs, logical, sink, options, hashes: loader.hashes };
      loader.takeOver(await loadOnSpark(session, work));
    } else for await (const member of inputs.members()) await loader.load(member);
    loader.requireDocuments();
  }
  await loader.flush();
  const loaded = performance.now();
  steps.push(['load', (loaded - started) / 1000]);
  const published = await sink.publish(() => session.stillOurs(loader.written()), loader.lastKeys());
  steps.push(['publish', (performance.now() - loaded) / 1000]);
  if (published.already)
    session.log('an earlier attempt of this job had published its rows; nothing was added');
  for (const change of published.changes) session.log(`target changed: ${change}`);
  loader.reportDrift();
  return { ...loader.result(), rows: published.rows, steps };
}

/** SHA-256 that stands for a document: a file's own, or one that follows from the file's and the place in it. */
function partHash(fileSha256: string, number: number | null): string {
  return number === null ? fileSha256 : createHash('sha256').update(`${fileSha256}#${number}`).digest('hex');
}

/** paths that the job record lists one by one */
const maxDetails = 1000;

/** What loading needs of a session and of a sink: also in a process that has neither job record nor target. */
export type LoaderSession = Pick<
  ToolSession,
  'request' | 'limits' | 'kernels' | 'idJob' | 'byHand' | 'log' | 'progress'
>;
export type LoaderSink = Pick<
  RowSink,
  'encoding' | 'widensInPlace' | 'write' | 'writeSide' | 'misfit' | 'relax'
> &
  Partial<Pick<RowSink, 'loadedDocuments'>>;

export class Loader {
  readonly #session: LoaderSession;
  readonly #logical: StoredLogicalSchema;
  /** rows given to the sink, by table */
  #written: number[] = [];
  readonly #sink: LoaderSink;
  readonly #shredder: Shredder;
  readonly #probe: Shredder | null;
  readonly #cut: DocumentCut;
  readonly #probeCut: DocumentCut | null;
  readonly #names = createNameTable();
  readonly #collector;
  readonly #identity;
  readonly #totalBytes: number;
  readonly #rejects: Rejects;
  /** SHA-256 by place, where it had to be known before; null: the document is not to be loaded */
  #hashes: readonly (string | null)[] | null = null;
  /** SHA-256 of the present file and document, where known; the document's is, when it ends */
  #fileHash: string | null = null;
  #sha256: string | null = null;
  #skipped = 0;
  #apart: Omit<LoadedApart, 'written'> | null = null;
  #place = 0;
  #bytes = 0;
  #diskBytes = 0;
  #path = '';
  #fileName = '';

  constructor(
    session: LoaderSession,
    logical: StoredLogicalSchema,
    sink: LoaderSink,
    { withStatistics, rowTag, rejects }: LoadOptions,
    keyOffsets: ReadonlyMap<string, number>,
    totalBytes: number,
  ) {
    this.#session = session;
    this.#logical = logical;
    this.#sink = sink;
    this.#rejects = rejects;
    this.#totalBytes = totalBytes;
    const { request } = session;
    const shredding = {
      model: logical.model,
      names: this.#names,
      encoding: sink.encoding,
      idJob: session.idJob,
      keyOffsets,
      widensInPlace: sink.widensInPlace,
      unmapped: request.unmapped,
      extraValues: () => this.#extraValues(),
    };
    this.#shredder = createShredder(shredding);
    this.#probe = request.onError === 'skip' ? createShredder(shredding) : null;
    this.#collector = withStatistics
      ? createStatisticsCollector(this.#names, { samples: !request.noSamples })
      : null;
    this.#identity = createIdentityChecker(logical.model, this.#names);
    this.#cut = createDocumentCut(rowTag, this.#names, this.#documentConsumer());
    const probe = this.#probe;
    this.#probeCut =
      probe === null
        ? null
        : createDocumentCut(rowTag, this.#names, {
            begin: (file, number, inherited) =>
              probe.beginDocument(documentName(file, number), undefined, inherited),
            consume: (batch, locate) => probe.consume(batch, locate),
            end: () => undefined,
          });
  }

  #documentConsumer(): DocumentConsumer {
    const shredder = this.#shredder;
    const collector = this.#collector;
    const identity = this.#identity;
    const { keys } = this.#session.request;
    return {
      begin: (file, number, inherited) => {
        this.#sha256 = this.#fileHash === null ? null : partHash(this.#fileHash, number);
        const keyed = keys === 'hash' ? (this.#sha256 ?? undefined) : undefined;
        shredder.beginDocument(documentName(file, number), keyed, inherited);
        collector?.beginDocument();
        identity?.beginDocument(documentName(file, number), inherited);
      },
      consume: (batch, locate) => {
        shredder.consume(batch, locate);
        collector?.consume(batch);
        identity?.consume(batch, locate);
      },
      end: (bytes) => {
        shredder.endDocument({ sha256: this.#sha256!, bytes, loadedAt: new Date().toISOString() });
        collector?.endDocument(bytes);
      },
    };
  }

  /**
   * `--on-error skip`: a document that is to be skipped must leave no row, so all are read once for their faults, before any
   * is read for its rows. Two walks, as a member of a tar archive passes by only once in each.
   */
  async probe(inputs: InputSet): Promise<void> {
    if (this.#probe === null) return;
    let place = 0;
    for await (const member of inputs.members()) {
      if (!this.#rejects.has(place)) await this.#test(member, place, this.#probe);
      place += 1;
    }
  }

  /**
   * `--skip-loaded`, `--keys hash`: a document that the target holds, or that stood among the inputs before, is not loaded.
   * Keys that follow from a document's content would be taken; that is what makes loading it again harmless.
   */
  async leaveOutLoaded(inputs: InputSet): Promise<void> {
    const { skipLoaded, keys, rowTag } = this.#session.request;
    // the hash of a part follows from that of its file, which must be known before
    if (!skipLoaded && keys === 'sequence' && rowTag === undefined) return;
    const hashes: string[] = [];
    for await (const member of inputs.members()) hashes.push(await hashDocument(member));
    if (!skipLoaded && keys === 'sequence') {
      this.#hashes = hashes;
      return;
    }
    // a file is published whole: where its first part is, all are
    const first = rowTag === undefined ? null : 1;
    const parts = new Map(hashes.map((sha256) => [partHash(sha256, first), sha256]));
    const loaded = await this.#sink.loadedDocuments!([...parts.keys()]);
    const known = new Set([...loaded].map((sha256) => parts.get(sha256)!));
    this.#hashes = hashes.map((sha256, place) => {
      if (this.#rejects.has(place)) return null;
      if (known.has(sha256)) {
        this.#skipped += 1;
        return null;
      }
      known.add(sha256);
      return sha256;
    });
    if (this.#skipped > 0)
      this.#session.log(`${this.#skipped} documents are there already and were left out`);
  }

  /** By place; null: not to be loaded, or all are as they come. */
  get hashes(): readonly (string | null)[] | null {
    return this.#hashes;
  }

  expect(hashes: readonly string[]): void {
    this.#hashes = hashes;
  }

  /** What other processes loaded stands for what this one would have. */
  takeOver({ written, ...result }: LoadedApart): void {
    this.#written = [...written];
    this.#apart = result;
  }

  async load(member: InputMember): Promise<void> {
    this.#path = member.path;
    this.#fileName = member.name;
    const place = this.#place;
    this.#place += 1;
    const known = this.#hashes?.[place];
    if (this.#rejects.has(place) || known === null) {
      this.#diskBytes += member.diskBytes;
      return;
    }
    this.#fileHash = known ?? null;
    this.#cut.beginFile(member.name);
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
        this.#session.progress(this.#totalBytes === 0 ? 0 : done / this.#totalBytes);
      },
    });
    if (known !== undefined && known !== sha256)
      throw new AppError('unprocessable_input', `${member.path}: the file changed while it was read`);
    this.#sha256 ??= sha256;
    this.#cut.endFile(bytes);
    this.#bytes += bytes;
    this.#diskBytes += member.diskBytes;
  }

  async #test(member: InputMember, place: number, probe: Shredder): Promise<void> {
    this.#probeCut!.beginFile(member.name);
    try {
      await readDocument(member, {
        names: this.#names,
        limits: this.#session.limits,
        kernels: probe.tokenizerKernels(),
        onBatch: (batch, locate) => this.#probeCut!.consume(batch, locate),
        afterChunk: () => {
          probe.output.chunks.length = 0;
          probe.misfits.length = 0;
          probe.relaxed.length = 0;
        },
      });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#rejects.add(place, error);
    }
  }

  /** Hands what the shredder finished to the sink; awaiting it is what holds the reader back. */
  async #drain(): Promise<void> {
    const { output, misfits, relaxed } = this.#shredder;
    // what leaves a cell empty is known before the row comes
    for (const misfit of misfits.splice(0)) await this.#sink.misfit(misfit);
    for (const { table, column } of relaxed.splice(0)) this.#sink.relax(table, column);
    for (const chunk of output.chunks.splice(0)) {
      if (typeof chunk.table === 'number') {
        this.#written[chunk.table] = (this.#written[chunk.table] ?? 0) + chunk.rowCount;
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
    if (this.#cut.count > 0 || this.#apart !== null || this.#skipped > 0) return;
    throw noDocumentsLeft(this.#rejects, this.#session.request.rowTag);
  }

  /** What the job will have added once it is published. */
  written(): WrittenSoFar {
    const { model, idSch, idLschma } = this.#logical;
    const named = this.#written.map((rows, table) => [model.tables[table]!.name, rows] as const);
    const { documents, bytes, unknownPaths, details } = this.result();
    return {
      origin: idSch,
      logical: idLschma < 0 ? null : idLschma,
      documents,
      rejected: this.#rejects.messages.length,
      tables: Object.fromEntries(named.filter(([, rows]) => rows > 0)),
      unknownPaths,
      bytes,
      details,
    };
  }

  lastKeys(): ReadonlyMap<string, number> {
    return this.#shredder.lastKeys();
  }

  #extraValues(): readonly (string | null)[] {
    return this.#session.request.extraColumns.map((column) => {
      switch (column.kind) {
        case 'now':
          return new Date().toISOString();
        case 'id':
          return String(this.#session.idJob);
        case 'filename':
          return this.#fileName;
        case 'filepath':
          return this.#session.byHand ? this.#path : this.#fileName;
        case 'value':
          return column.value ?? '';
      }
    });
  }

  reportDrift(): void {
    if (this.#cut.outside > 0)
      this.#session.log(
        `${this.#cut.outside} attributes and texts lie outside of the row elements: not loaded`,
      );
    const { drift } = this.#shredder;
    for (const { xpath, kind, count, sample } of [...drift.paths.values()].slice(0, 100)) {
      this.#session.log(`unmapped ${kind} ${xpath}: ${count} times, such as ${sample}`);
    }
    for (const [column, { count, sample }] of drift.misfits) {
      this.#session.log(`values that do not fit ${column}: ${count}, such as ${sample}`);
    }
    for (const line of identityReport(this.#identity)) this.#session.log(line);
  }

  result(): Omit<LoadResult, 'rows' | 'steps'> {
    if (this.#apart !== null) {
      const details = { ...this.#apart.details, rejects: this.#rejects.details };
      return { ...this.#apart, skipped: this.#skipped, details };
    }
    return {
      documents: this.#cut.count,
      skipped: this.#skipped,
      details: {
        unmapped: [...this.#shredder.drift.paths.values()]
          .slice(0, maxDetails)
          .map(({ xpath, count }) => ({ xpath, count })),
        ignored: [...this.#shredder.drift.ignored.values()].reduce((sum, count) => sum + count, 0),
        rejects: this.#rejects.details,
        ...(this.#identity === null ? {} : { broken: this.#identity.broken }),
      },
      unknownPaths: this.#shredder.drift.paths.size,
      bytes: this.#bytes,
      statistics: this.#collector?.statistics ?? null,
    };
  }
}
