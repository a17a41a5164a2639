/** Runs the engine on text and gives the rows back as objects: what a loaded table would hold. */
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { MapLevel, RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';
import { InputError } from '../../../src/engine/diagnostics.ts';
import {
  createStatisticsCollector,
  type StatisticsCollectorOptions,
} from '../../../src/engine/infer/collector.ts';
import type { DeclaredPlaces } from '../../../src/engine/infer/declared-places.ts';
import { inferSourceModel } from '../../../src/engine/infer/source-model.ts';
import type { DocumentStatistics } from '../../../src/engine/infer/statistics.ts';
import { createShredder, type Shredder, type ShredderOptions } from '../../../src/engine/shred/shredder.ts';
import type { RowChunk } from '../../../src/engine/shred/row-output.ts';
import { createNameTable } from '../../../src/engine/xml/names/interned.ts';
import type { NameTable } from '../../../src/engine/xml/tokens.ts';
import { createFastXmlTokenizer, type TokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { createXmlTokenizer } from '../../../src/engine/xml/tokenizer/portable.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { uuidOfJob } from './job-names.ts';

export type Row = Readonly<Record<string, string | null>>;

export interface Shredded {
  readonly model: RelationalModel;
  /** by table name, side tables with their underscore */
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  readonly unconvertedValues: Shredder['unconvertedValues'];
  readonly nullAllowed: Shredder['nullAllowed'];
  readonly deviations: Shredder['deviations'];
}

const utf8 = new TextEncoder();

const noKernels: TokenizerKernels = { take: () => null, giveBack: () => undefined };

export function bytesOf(document: string | Uint8Array): Uint8Array {
  return typeof document === 'string' ? utf8.encode(document) : document;
}

export interface CollectingOptions extends Partial<StatisticsCollectorOptions> {
  /** bytes that the tokeniser holds at a time */
  readonly windowBytes?: number;
  /** the places of a schema, made with the names of the collector */
  readonly placesWith?: (names: NameTable) => DeclaredPlaces;
  /** the collector's tokeniser, instead of one of TypeScript alone */
  readonly sharesMemory?: boolean;
}

/** Documents that are not well-formed break off. */
export function statisticsOf(
  documents: readonly (string | Uint8Array)[],
  { windowBytes, sharesMemory, placesWith, ...options }: CollectingOptions = {},
): DocumentStatistics {
  const names = createNameTable();
  const places = placesWith === undefined ? {} : { places: placesWith(names) };
  const collector = createStatisticsCollector(names, { samples: true, ...places, ...options });
  const kernels = sharesMemory === true ? collector.tokenizerKernels() : noKernels;
  for (const document of documents) {
    const bytes = bytesOf(document);
    collector.beginDocument();
    const tokenizer = createFastXmlTokenizer(
      {
        names,
        ...(windowBytes === undefined ? {} : { windowBytes }),
        onBatch: (batch) => collector.consume(batch),
      },
      kernels,
    );
    try {
      tokenizer.write(bytes);
      tokenizer.end();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      continue;
    }
    collector.endDocument(bytes.length);
  }
  return structuredClone(collector.statistics);
}

export function inferred(documents: readonly (string | Uint8Array)[]): SourceModel {
  return inferSourceModel(statisticsOf(documents));
}

/** An XSD set in one text, or several by file name; throws where it has errors. */
export function compiled(xsd: string | Readonly<Record<string, string>>): SourceModel {
  const files = typeof xsd === 'string' ? { 'schema.xsd': xsd } : xsd;
  const set = Object.entries(files).map(([name, text]) => ({ name, bytes: utf8.encode(text) }));
  const { model, diagnostics } = compileXsdSet(set, {});
  const error = diagnostics.find((diagnostic) => diagnostic.severity === 'error');
  if (error !== undefined) throw new Error(error.message);
  return model;
}

export function modelOf(source: SourceModel, mapLevel: MapLevel): RelationalModel {
  return buildRelationalModel(source, { mapLevel });
}

/** `table(column type, column type not null, …)`: a model in a few lines for golden comparisons. */
export function outline(model: RelationalModel): string {
  return model.tables
    .map((table) => {
      const columns = table.columns.map((column) => {
        const { kind, length, precision, scale, list } = column.type;
        const size = length ?? (precision === undefined ? undefined : `${precision},${scale}`);
        const reference = column.references === null ? '' : ` -> ${model.tables[column.references]!.name}`;
        return `${column.name} ${kind}${size === undefined ? '' : `(${size})`}${list ? '[]' : ''}${column.nullable ? '' : '!'}${reference}`;
      });
      return `${table.name}: ${columns.join(', ')}`;
    })
    .join('\n');
}

export function shred(
  model: RelationalModel,
  documents: readonly (string | Uint8Array)[],
  options: Partial<ShredderOptions> & { readonly pieceBytes?: number } = {},
): Shredded {
  const names = createNameTable();
  const shredder = createShredder({
    model,
    names,
    encoding: 'copy-text',
    idJob: 1,
    jobUuid: uuidOfJob(1),
    keyOffsets: new Map(),
    widensInPlace: true,
    unmapped: 'capture',
    extraValues: () => [],
    ...options,
  });
  for (const [index, document] of documents.entries()) {
    const bytes = bytesOf(document);
    shredder.beginDocument(`document-${index + 1}.xml`);
    const tokenizer = createXmlTokenizer({
      names,
      onBatch: (batch) => shredder.consume(batch, (record) => tokenizer.locate(record)),
    });
    const piece = options.pieceBytes ?? Math.max(1, bytes.length);
    for (let at = 0; at < bytes.length; at += piece) tokenizer.write(bytes.slice(at, at + piece));
    tokenizer.end();
    shredder.endDocument({ sha256: 'x', bytes: bytes.length, loadedAt: '2026-01-01T00:00:00Z' });
  }
  shredder.output.flush();
  return {
    model,
    rows: rowsOf(model, shredder.output.chunks),
    unconvertedValues: shredder.unconvertedValues,
    nullAllowed: shredder.nullAllowed,
    deviations: shredder.deviations,
  };
}

/** Rows of COPY text by table name. */
export function rowsOf(
  { tables }: RelationalModel,
  chunks: readonly Pick<RowChunk, 'table' | 'bytes'>[],
): Record<string, Row[]> {
  // a table may be called constructor, too
  const rows: Record<string, Row[]> = Object.create(null);
  for (const chunk of chunks) {
    const table = typeof chunk.table === 'number' ? tables[chunk.table]! : null;
    const name = table?.name ?? `_${chunk.table}`;
    const columns = table?.columns.map((column) => column.name) ?? sideColumns[name]!;
    const lines = new TextDecoder().decode(chunk.bytes).split('\n').slice(0, -1);
    (rows[name] ??= []).push(...lines.map((line) => readCopyLine(line, columns)));
  }
  return rows;
}

const sideColumns: Readonly<Record<string, readonly string[]>> = {
  _documents: ['document_key', 'name', 'sha256', 'bytes', 'loaded_at', 'job', 'job_uuid'],
  _unmapped: ['document_key', 'parent_table', 'parent_key', 'position', 'xpath', 'kind', 'content'],
  _lexical: ['document_key', 'table_name', 'row_key', 'column_name', 'content'],
};

/** One line of PostgreSQL's COPY text format. */
function readCopyLine(line: string, columns: readonly string[]): Row {
  const fields = line
    .split('\t')
    .map((field) =>
      field === '\\N'
        ? null
        : field.replace(/\\(.)/g, (_, code: string) => ({ t: '\t', n: '\n', r: '\r' })[code] ?? code),
    );
  if (fields.length !== columns.length)
    throw new Error(`${fields.length} fields for ${columns.length} columns: ${line}`);
  return Object.fromEntries(columns.map((name, index) => [name, fields[index] ?? null]));
}
