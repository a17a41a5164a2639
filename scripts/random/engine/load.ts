/** Runs the engine inside this process: XSD set or documents to a model, documents to rows of one job, rows to documents. */
import { figuresOfLines } from '../../../src/service/catalog/mapping-figures.ts';
import { placesOfDeclarations } from '../../../src/engine/infer/declared-places.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import type { DocumentStatistics } from '../../../src/engine/infer/statistics.ts';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { chooseRoots } from '../../../src/engine/map/chosen-roots.ts';
import { createPathPrinter } from '../../../src/engine/map/names/paths.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { clarkName, type QName, type SourceModel } from '../../../src/engine/model/source-model.ts';
import type { RowChunk } from '../../../src/engine/shred/row-output.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { requestDefaults } from '../../../src/service/jobs/request/tool-request.ts';
import type { MappingRecord } from '../../../src/ports/stores/catalog.ts';
import type { UnconvertedValue } from '../../../src/ports/row-sink.ts';
import { createRejects } from '../../../src/tools/load/findings.ts';
import { Loader, type LoaderSession } from '../../../src/tools/load/row-loader.ts';
import { memoryDocumentRows } from '../../../test/support/memory/document-rows.ts';
import { uuidOfJob } from '../../../test/support/models/job-names.ts';
import { compiled, rowsOf, statisticsOf, type Shredded } from '../../../test/support/models/shredding.ts';
import { writeDocuments } from '../../../test/support/round-trip/in-memory.ts';
import type { LoadedRows } from '../oracle/placed-documents.ts';

export interface ModelRequest {
  readonly mapLevel: MapLevel;
  readonly roots: readonly QName[];
  readonly prune: boolean;
  readonly previous?: RelationalModel;
}

export interface LoadedJob extends LoadedRows {
  readonly model: RelationalModel;
  /** content that found no place, in words */
  readonly unmapped: readonly string[];
  readonly shredded: Shredded;
}

export function compileSchema(files: Readonly<Record<string, string>>): SourceModel {
  return compiled(files);
}

export function inferSchema(documents: readonly string[]): SourceModel {
  return inferSourceModel(statisticsOf(documents));
}

/** As the tools do: the likeliest roots, unless documents begin with others. */
export function drawModel(
  source: SourceModel,
  documents: readonly string[],
  request: ModelRequest,
): RelationalModel {
  const { mapLevel, roots, prune, previous } = request;
  const likely = source.roots.slice(0, source.primaryRoots).map((at) => clarkName(source.elements[at]!.name));
  const areLikely = roots.every((name) => likely.includes(clarkName(name)));
  return buildRelationalModel(source, {
    mapLevel,
    ...(areLikely ? {} : { roots }),
    ...(prune ? { met: { statistics: declaredStatistics(source, documents), declared: source } } : {}),
    ...(previous === undefined ? {} : { previous }),
  });
}

/** The statistics of documents that are read before there is a plan, as a pruned model needs them. */
export function declaredStatistics(source: SourceModel, documents: readonly string[]): DocumentStatistics {
  return statisticsOf(documents, { placesWith: (names) => placesOfDeclarations(source, names) });
}

/** One job of several documents into memory; `collected`: their statistics, if they were read before. */
export async function loadJob(
  source: SourceModel,
  model: RelationalModel,
  documents: readonly string[],
  collected?: DocumentStatistics,
): Promise<LoadedJob> {
  const session: LoaderSession = {
    request: { ...requestDefaults, tool: 'xml2er', keys: 'sequence' },
    limits: defaultEngineLimits,
    kernels: createTokenizerKernels(),
    idJob: 7,
    jobUuid: uuidOfJob(7),
    byHand: true,
    log: () => undefined,
    progress: () => undefined,
  };
  const chunks: Pick<RowChunk, 'table' | 'bytes'>[] = [];
  const unconvertedValues: UnconvertedValue[] = [];
  const sink = {
    encoding: 'copy-text',
    widensInPlace: true,
    scalesDecimals: false,
    write: async (table: number, bytes: Uint8Array) => void chunks.push({ table, bytes: bytes.slice() }),
    writeSide: async (table: 'documents' | 'unmapped' | 'lexical', bytes: Uint8Array) =>
      void chunks.push({ table, bytes: bytes.slice() }),
    unconverted: async (value: UnconvertedValue) => void unconvertedValues.push(value),
    allowNull: () => undefined,
  } as const;
  const logical = { idSch: 1, idLschma: 1, model } as unknown as ConstructorParameters<typeof Loader>[1];
  const options = { withStatistics: true, rowTag: null, rejects: createRejects(() => undefined) };
  const loader = new Loader(session, logical, sink, options, new Map(), 0);
  for (const [at, text] of documents.entries()) {
    const bytes = new TextEncoder().encode(text);
    const path = `/in/${at + 1}.xml`;
    await loader.load({
      name: `${at + 1}.xml`,
      path,
      diskBytes: bytes.length,
      source: { file: path, member: 0, packed: false, direct: true },
      chunks: async function* () {
        yield bytes;
      },
      parts: {
        bytes: async function* ({ from, to }) {
          yield bytes.slice(from, to);
        },
        modified: async () => 1,
      },
    });
  }
  await loader.flush();
  const statistics = collected ?? loader.takeStatistics()!;
  const rows = rowsOf(model, chunks);
  const lines = linesOf(model);
  const roots = chooseRoots(
    source,
    model.roots.map(({ name }) => name),
  );
  const paths = createPathPrinter({ ...source, namespaces: model.namespaces }, roots);
  const { figures, added } = figuresOfLines(statistics, model, lines, paths);
  return {
    model,
    tables: model.tables,
    namespaces: model.namespaces,
    rootUri: model.roots[0]!.name.namespaceUri,
    lines: [...lines, ...added],
    occurrences: new Map([...figures].map(([line, { occurrences }]) => [line, occurrences])),
    rows: withUnconverted(model, rows, unconvertedValues),
    unmapped: (rows['_unmapped'] ?? [])
      .filter((row) => row['kind'] !== 'place' && !isKeptBeside(row['xpath']!))
      .map((row) => JSON.stringify(row)),
    shredded: {
      model,
      rows,
      unconvertedValues,
      nullAllowed: [],
      deviations: loader.findings(),
    } as unknown as Shredded,
  };
}

/** An xsi:type or xsi:nil that says nothing new has no column, and prefixes that values use have none: they are kept beside the rows. */
function isKeptBeside(xpath: string): boolean {
  return /@xmlns:|@(?:xsi:|\{http:\/\/www\.w3\.org\/2001\/XMLSchema-instance\})(?:type|nil)$/.test(xpath);
}

/** The map as the catalogue stores it. */
export function linesOf(model: RelationalModel): MappingRecord[] {
  return model.mappings.map(
    ({ xpath, nodeType, sourceType, table, column, active }, at) =>
      ({
        id_map: at + 1,
        xpath,
        node_type: nodeType,
        source_type: sourceType,
        table_name: model.tables[table]!.name,
        column_name: column === null ? null : model.tables[table]!.columns[column]!.name,
        active: active !== false,
      }) as MappingRecord,
  );
}

/** A value that a column cannot hold makes the column text. */
function withUnconverted(
  { tables }: RelationalModel,
  rows: Shredded['rows'],
  values: readonly UnconvertedValue[],
): Shredded['rows'] {
  const texts = new Map(
    values.map(({ table, column, rowKey, text }) => [`${table} ${rowKey} ${column}`, text]),
  );
  return Object.fromEntries(
    tables.map(({ name, columns }, table) => {
      const key = columns.find(({ role }) => role === 'row_key')!.name;
      const filled = (rows[name] ?? []).map((row) =>
        Object.fromEntries(
          columns.map((column, at) => [
            column.name,
            texts.get(`${table} ${row[key]} ${at}`) ?? row[column.name]!,
          ]),
        ),
      );
      return [name, filled];
    }),
  );
}

export async function writeBack({ model, shredded }: LoadedJob, count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, at) => String(at + 1));
  const written = await writeDocuments(model, memoryDocumentRows(shredded), keys);
  return written.map((bytes) => new TextDecoder().decode(bytes));
}
