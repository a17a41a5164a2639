/** Rows of a job: loaded here, in threads or on Spark, and published once. */
import { InputError } from '../../engine/diagnostics.ts';
import { factsOf } from '../../engine/model/facts.ts';
import { placeOf, withKinds } from '../../engine/model/retyped-columns.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { hasZone } from '../../engine/model/zones.ts';
import { DateWalk, type ColumnPlace } from '../../engine/shred/date-walk.ts';
import { createNameTable } from '../../engine/xml/names/interned.ts';
import { createTokenizerKernels } from '../../engine/xml/tokenizer/fast.ts';
import type { RowSink, ZoneTable, MergeCounts, Enumerations } from '../../ports/row-sink.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import { walkDocument } from '../../inputs/read-document.ts';
import { createDocumentCut } from '../load/document-cut.ts';
import { type LoadOptions, Loader } from '../load/row-loader.ts';
import type { ToolSession } from '../session/tool-session.ts';
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import { AppError } from '../../errors.ts';
import { parsePartition, type PartitionWish } from '../../engine/sql/partition-wish.ts';
import { enumerationsOf } from '../../engine/metadata/enumerations.ts';
import { withNaturalKeys } from '../../service/catalog/logical-schema.ts';
import type { StoredLogicalSchema } from '../../ports/stores/catalog.ts';
import type {
  ConversionDetails,
  KeptContent,
  LeftOut,
  SchemaChosen,
  WrittenSoFar,
} from '../reports/conversion-result.ts';
import type { ChosenSchema } from '../schemas/logical-schema.ts';
import type { ReadDocuments } from './drift.ts';
import { replacedFilesOf, type DocumentHashes } from '../load/document-hashes.ts';
import { detailsOf, linesOf, unknownTypeLines, type LoadFindings } from '../load/findings.ts';
import type { ThreadLoad } from '../load/threads/unit-place.ts';

// The columns of dates with times that show instants in a target: those that do so already, and new ones for whose values the documents
// have time zones. Only the beginnings of documents are inspected, as far as that costs next to nothing. If a later value has a part that
// its column does not keep, the value is also kept as written (`_lexical`).

/** Limits for inspecting all documents together, and for one. */
const maxBytes = 4 * 2 ** 20;
const maxBytesOfOne = 2 ** 20;
const maxDocuments = 200;
/** number of dates in one document without new information, after which no more of it is inspected, and of all documents */
const maxKnownDates = 1000;
const maxKnownOfAll = 5000;

/** The model with the types that these columns have in this load. */
async function withZonesMet(
  session: Pick<ToolSession, 'limits' | 'request'>,
  inputs: Pick<InputSet, 'members'>,
  model: RelationalModel,
  sink: Pick<RowSink, 'existingZones'>,
  options: Pick<LoadOptions, 'rowTag' | 'rejects'>,
): Promise<RelationalModel> {
  const { saveMode } = session.request;
  const places = factsOf(model).openToZones;
  if (places.length === 0 || saveMode === 'write-schema' || saveMode === 'print-schema') return model;
  const met = await placesWithZones(session, inputs, model, places, options);
  const tables = Map.groupBy(places, ([table]) => table);
  const there =
    saveMode === 'overwrite' ? new Map() : await sink.existingZones(questionsOf(model, tables, met));
  const zoned = new Map(met.keys().map((place) => [place, true]));
  for (const [table, own] of tables) {
    const kept: ReadonlyMap<string, boolean> | undefined = there.get(model.tables[table]!.name);
    if (kept === undefined) continue;
    for (const [, column] of own) {
      const isZoned = kept.get(model.tables[table]!.columns[column]!.name);
      if (isZoned !== undefined) zoned.set(placeOf(table, column), isZoned);
    }
  }
  return withKinds(model, zoned, (isZoned) => (isZoned ? 'timestamptz' : 'timestamp'));
}

function questionsOf(
  model: RelationalModel,
  places: ReadonlyMap<number, readonly ColumnPlace[]>,
  met: ReadonlySet<string>,
): ZoneTable[] {
  return [...places].map(([table, own]) => ({
    name: model.tables[table]!.name,
    columns: () =>
      own.map(([, column]) => ({
        name: model.tables[table]!.columns[column]!.name,
        zoned: met.has(placeOf(table, column)),
      })),
  }));
}

/** Stops the reading of a document. */
class Enough extends Error {}

/** Returns the columns of `places` in which a value with a time zone was found. */
async function placesWithZones(
  { limits }: Pick<ToolSession, 'limits'>,
  inputs: Pick<InputSet, 'members'>,
  model: RelationalModel,
  places: readonly ColumnPlace[],
  { rowTag, rejects }: Pick<LoadOptions, 'rowTag' | 'rejects'>,
): Promise<ReadonlySet<string>> {
  const met = new Set<string>();
  const seen = new Set<string>();
  const names = createNameTable();
  let knownDates = 0;
  let knownOfAll = 0;
  const walk = new DateWalk(model, names, places, ([table, column], text) => {
    const place = placeOf(table, column);
    const before = seen.size + met.size;
    seen.add(place);
    if (hasZone(text)) met.add(place);
    const isNew = seen.size + met.size > before;
    knownDates = isNew ? 0 : knownDates + 1;
    knownOfAll = isNew ? 0 : knownOfAll + 1;
  });
  const cut = createDocumentCut(rowTag, names, {
    begin: (_file, _number, inherited) => walk.beginDocument(inherited),
    consume: (batch, _locate, first) => {
      walk.consume(batch, first);
      if (walk.isOther) throw new Enough();
    },
    end: () => undefined,
  });
  const kernels = createTokenizerKernels();
  let bytes = 0;
  let inputIndex = -1;
  for await (const member of inputs.members()) {
    inputIndex += 1;
    if (inputIndex >= maxDocuments || bytes >= maxBytes || knownOfAll >= maxKnownOfAll) break;
    // further documents cannot add anything
    if (met.size === places.length) break;
    if (rejects.has(inputIndex)) continue;
    cut.beginFile(member.name, member.range);
    knownDates = 0;
    try {
      await walkDocument(member, {
        names,
        limits,
        kernels,
        onBatch: (batch, locate) => cut.consume(batch, locate),
        afterChunk: (size, read) => {
          bytes += size;
          const isEnough = read >= maxBytesOfOne || bytes >= maxBytes || knownDates >= maxKnownDates;
          if (isEnough || met.size === places.length) throw new Enough();
        },
      });
    } catch (error) {
      // the load reports faults of documents
      if (!(error instanceof Enough || error instanceof InputError)) throw error;
    }
  }
  return met;
}

// The load.

export interface LoadResult {
  readonly documents: number;
  /** left out, as the target holds them already */
  readonly skipped: number;
  readonly details: ConversionDetails;
  readonly kept: KeptContent;
  readonly rows: Readonly<Record<string, number>>;
  readonly unknownPaths: number;
  readonly bytes: number;
  /** statistics of the documents that were loaded, when asked for */
  readonly statistics: DocumentStatistics | null;
}

/** The outcome of reading documents by a schema: their rows are published, or they are to be read by another one. */
export type RowsOrSchema = { readonly loaded: LoadResult } | { readonly instead: ChosenSchema };

interface RowLoad extends LoadOptions {
  /** called before the first document is read; never called if there is no document */
  readonly check: () => Promise<void>;
  /** called before rows are published: the schema that the documents are to be read by instead; null: these rows are right */
  readonly settleDrift: (read: ReadDocuments) => Promise<ChosenSchema | null>;
  /** for the record, which must be stored before the rows */
  readonly chosen: SchemaChosen;
}

export async function loadRows(
  session: ToolSession,
  inputs: InputSet,
  stored: StoredLogicalSchema,
  sink: RowSink,
  options: RowLoad,
): Promise<RowsOrSchema> {
  const { request, steps } = session;
  if (request.saveMode === 'merge') requireMerge(request, sink);
  steps.begin('target');
  const { catalog } = session.home.adapters;
  const model = await withZonesMet(session, inputs, stored.model, sink, options);
  const logical = { ...stored, model };
  const naturalKeys = await catalog.listNaturalKeys(session.idOrg, logical.idSch);
  const opened = await sink.open({
    model: withNaturalKeys(logical.model, naturalKeys),
    saveMode: request.saveMode,
    idJob: session.idJob,
    jobUuid: session.jobUuid,
    installation: await catalog.installation(),
    idSch: logical.idSch,
    idLschma: logical.idLschma,
    modelHash: logical.modelHash,
    allTables: request.tables === 'all' || request.saveMode === 'write-schema',
    keys: request.keys,
    ...(request.indexes === undefined ? {} : { indexes: request.indexes }),
    ...(request.codes === undefined ? {} : { codes: request.codes }),
    ...(request.views === true ? { views: true } : {}),
    ...partitionOf(request),
    schemaName: async () => (await catalog.findOrigin(session.idOrg, logical.idSch))?.name ?? null,
    enumerations: () => enumerationsOfOrigin(session, logical),
  });
  session.noteReached(sink.label);
  const loaded = await loadAll(session, { inputs, logical, sink, options }, opened);
  const instead = await options.settleDrift(loaded);
  if (instead !== null) return { instead };
  steps.begin('publish');
  const { documents, bytes } = loaded.findings;
  session.progress(1, { pass: 'publishing', documents, bytes, rows: loaded.rows });
  const removed = request.saveMode === 'overwrite' ? await options.removedFiles?.(null) : undefined;
  const removesAll: Pick<ConversionDetails, 'removed'> = removed === undefined ? {} : { removed };
  const published = await sink.publish(
    (merged) => {
      const details = {
        ...loaded.written.details,
        ...removesAll,
        ...(loaded.leftOut === null ? {} : { left_out: loaded.leftOut }),
        ...mergedOf(loaded, merged),
      };
      return session.beginCommit({ ...loaded.written, details, chosen: options.chosen });
    },
    loaded.lastKeys,
    loaded.merge,
  );
  steps.begin('record');
  if (published.already)
    session.log('an earlier attempt of this job had published its rows; nothing was added');
  const { merged } = mergedOf(loaded, published.merged);
  if (merged !== undefined) {
    const { inserted, replaced, unchanged, deleted } = merged;
    session.log(
      `documents: ${inserted} new, ${replaced} replaced, ${unchanged} unchanged, ${deleted} deleted`,
    );
  }
  if (published.indexes !== undefined) {
    const { count, seconds } = published.indexes;
    session.log(
      `${count} ${count === 1 ? 'index' : 'indexes'} on keys: ${seconds.toFixed(2)} s of the database`,
    );
  }
  for (const change of byTable(published.changes)) session.log(`target changed: ${change}`);
  const { findings } = loaded;
  for (const line of [...linesOf(findings), ...(await unknownTypes(session, logical, findings))])
    session.log(line);
  const result: LoadResult = {
    documents: findings.documents,
    skipped: loaded.skipped,
    details: {
      ...detailsOf(findings, options.rejects.details),
      ...loaded.replacedFiles,
      ...removesAll,
      ...(loaded.leftOut === null ? {} : { left_out: loaded.leftOut }),
      ...(merged === undefined ? {} : { merged }),
      ...(published.brokenKeys?.length ? { broken_keys: published.brokenKeys } : {}),
      ...(published.keys === undefined ? {} : { keys: published.keys }),
    },
    kept: findings.kept,
    rows: published.rows,
    unknownPaths: findings.unmapped.length,
    bytes: findings.bytes,
    statistics: loaded.statistics,
  };
  return { loaded: result };
}

/** The result of a load of which nothing is published yet. */
interface Loaded {
  readonly findings: LoadFindings;
  readonly written: Omit<WrittenSoFar, 'chosen'>;
  /** number of rows in all tables */
  readonly rows: number;
  readonly lastKeys: ReadonlyMap<string, number>;
  readonly merge: DocumentHashes['merge'];
  readonly replacedFiles: ReturnType<typeof replacedFilesOf>;
  readonly skipped: number;
  readonly leftOut: LeftOut | null;
  readonly statistics: DocumentStatistics | null;
}

/** Ends the loader here, so that memory used for reading documents is free when they are published. */
async function loadAll(
  session: ToolSession,
  load: Omit<ThreadLoad, 'known'> & { readonly options: RowLoad },
  opened: 'load' | 'skip',
): Promise<Loaded> {
  const { inputs, logical, sink, options } = load;
  const loader = new Loader(session, logical, sink, options, await sink.keyOffsets(), inputs.totalBytes);
  if (opened === 'load') {
    await options.check();
    session.steps.begin('load');
    await loadDocuments(session, load, loader);
    loader.requireDocuments();
  }
  if (opened === 'skip' && session.request.saveMode === 'ignore')
    session.log('the tables hold rows already: no document was read, nothing was added (-S i)');
  await loader.flush();
  return {
    findings: loader.findings(),
    written: loader.written(),
    rows: loader.writtenRows,
    lastKeys: loader.lastKeys(),
    merge: loader.known.merge,
    replacedFiles: replacedFilesOf(loader.known),
    skipped: loader.skipped,
    leftOut: leftOutOf(loader.known),
    statistics: loader.statistics,
  };
}

/** Returns null if identical documents were not searched. */
function leftOutOf({ skipped, repeated }: DocumentHashes): LeftOut | null {
  return repeated === undefined ? null : { loaded: skipped - repeated, repeated };
}

/** Loads documents in this process, in threads or on Spark. */
async function loadDocuments(
  session: ToolSession,
  load: Omit<ThreadLoad, 'known'>,
  loader: Loader,
): Promise<void> {
  const { inputs } = load;
  if (session.request.engine === 'spark') {
    const { loadOnSpark } = await import('../load/spark/load-on-spark.ts');
    return loader.adoptDelegated(await loadOnSpark(session, load, loader));
  }
  await loader.probe(inputs);
  const threads = threadsFor(session, inputs);
  await loader.leaveOutLoaded(inputs, threads > 1);
  if (threads > 1) {
    const { loadInThreads } = await import('../load/threads/in-threads.ts');
    return loader.adoptDelegated(await loadInThreads(session, { ...load, known: loader.known }, threads));
  }
  for await (const member of inputs.members()) {
    const loaded = loader.load(member);
    if (loaded !== undefined) await loaded;
  }
}

function mergedOf(
  { findings, skipped }: Loaded,
  counts: MergeCounts | undefined,
): Pick<ConversionDetails, 'merged'> {
  if (counts === undefined) return {};
  const inserted = findings.documents - counts.replaced;
  return { merged: { inserted, ...counts, unchanged: skipped } };
}

/** `--workers`, or fewer: each thread is to have enough to read that beginning it is worth it. */
function threadsFor({ request, home }: ToolSession, { expectedBytes }: InputSet): number {
  const { engine, workers = 1 } = request;
  const { threadsFromBytes } = home.config.worker;
  if (engine !== 'local' || expectedBytes < threadsFromBytes) return 1;
  return Math.min(workers, Math.floor((2 * expectedBytes) / threadsFromBytes));
}

/** The text was read when the job was asked for. */
function partitionOf({ partition }: ToolSession['request']): {
  readonly partition?: readonly PartitionWish[];
} {
  const wishes = partition === undefined ? null : parsePartition(partition);
  return wishes === null || typeof wishes === 'string' ? {} : { partition: wishes };
}

/** AppError `invalid_option`: other options leave open which document is replaced, or the target does not support merging. */
function requireMerge({ rowTag, concatenated, key, keys }: ToolSession['request'], sink: RowSink): void {
  if (sink.currentDocuments === undefined)
    throw new AppError(
      'invalid_option',
      `${sink.label}: -S m replaces documents in databases of PostgreSQL, MySQL, SQLite and DuckDB, and in tables of Delta and Iceberg; for other targets, -S o replaces all rows`,
    );
  const numbering = rowTag !== undefined ? '--row-tag' : concatenated ? '--concatenated' : null;
  if (numbering !== null && key === undefined)
    throw new AppError(
      'invalid_option',
      `-S m replaces documents by their names, which ${numbering} makes of places in a file: give the path of a key that identifies each document, such as --key /item/@id`,
    );
  if (keys === 'hash')
    throw new AppError(
      'invalid_option',
      '-S m replaces documents by their keys, but --keys hash derives the keys of rows from the content of documents: omit one of the two',
    );
}

/** Types that documents name and the origin of a logical schema does not declare. */
async function unknownTypes(
  { home, idOrg }: ToolSession,
  { idSch }: StoredLogicalSchema,
  { namedTypes }: LoadFindings,
): Promise<readonly string[]> {
  if (namedTypes.length === 0) return [];
  const origin = await home.adapters.catalog.loadOrigin(idOrg, idSch);
  if (origin === null) return [];
  const declared = origin.model.types.flatMap(({ name }) => (name === null ? [] : [name]));
  return unknownTypeLines(namedTypes, declared);
}

/** Returns the enumerations of columns as the origin of a logical schema declares them. */
export async function enumerationsOfOrigin(
  { home, idOrg }: ToolSession,
  { idSch, model }: StoredLogicalSchema,
): Promise<Enumerations> {
  const origin = await home.adapters.catalog.loadOrigin(idOrg, idSch);
  return origin === null ? () => null : enumerationsOf(model, origin.model);
}

/** `crew.name: added` and `crew.age: added` are one line, as are other changes of one table. */
function byTable(changes: readonly string[]): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const change of changes) {
    const [, table = change, column = null, what = ''] = /^(.*?)(?:\.([^.:]*))?: (.*)$/.exec(change) ?? [];
    const changed = lines.get(table) ?? [];
    lines.set(table, [...changed, column === null ? what : `${column} ${what}`]);
  }
  return [...lines].map(([table, changed]) =>
    changed[0] === '' ? table : `${table}: ${changed.join(', ')}`,
  );
}
