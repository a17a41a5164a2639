/** Documents loaded as a tool loads them: whole, or in ranges of one. */
import type { DocumentStatistics } from '../../../src/engine/infer/statistics.ts';
import { UnitStatistics } from '../../../src/engine/infer/merge-statistics.ts';
import { defaultEngineLimits } from '../../../src/engine/limits.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import type { RowChunk } from '../../../src/engine/shred/row-output.ts';
import { createTokenizerKernels } from '../../../src/engine/xml/tokenizer/fast.ts';
import { requestDefaults } from '../../../src/service/jobs/request/tool-request.ts';
import type { UnconvertedValue } from '../../../src/ports/row-sink.ts';
import type { InputMember } from '../../../src/inputs/members.ts';
import {
  countPieces,
  levelCutsOfPieces,
  surveyPiece,
  memberOfRange,
} from '../../../src/inputs/readable-ranges.ts';
import type { PieceOfRows } from '../../../src/engine/shred/row-tag/pieces.ts';
import { addFindings, type LoadFindings, createRejects } from '../../../src/tools/load/findings.ts';
import { checkLastKeys, KeyRanges } from '../../../src/tools/load/document-cut.ts';
import {
  cutOrSay,
  lookAhead,
  type OneDocumentOptions,
  type SurveyedDocument,
} from '../../../src/tools/load/one-document.ts';
import { Loader, type LoaderSession } from '../../../src/tools/load/row-loader.ts';
import { rowsOf, type Row } from './shredding.ts';
import { uuidOfJob } from './job-names.ts';

export interface Loaded {
  /** by table name */
  readonly rows: Readonly<Record<string, readonly Row[]>>;
  readonly unconvertedValues: readonly UnconvertedValue[];
  readonly nullAllowed: readonly string[];
  readonly statistics: DocumentStatistics;
  readonly findings: LoadFindings;
  /** 1: it was not cut */
  readonly ranges: number;
  /** where each begins in the document */
  readonly starts: readonly number[];
  /** why it was not */
  readonly log: readonly string[];
}

const sha256 = 'ab'.repeat(32);

function memberOf(document: Uint8Array): InputMember {
  const section = async function* ({ from, to }: { from: number; to: number }): AsyncIterable<Uint8Array> {
    if (from < to) yield document.slice(from, to);
  };
  return {
    name: 'document.xml',
    path: '/in/document.xml',
    diskBytes: document.length,
    source: { file: '/in/document.xml', member: 0, packed: false, direct: true },
    chunks: () => section({ from: 0, to: document.length }),
    parts: { bytes: section, modified: async () => 1 },
  };
}

/** What others find out of a document by pieces of it that each is looked at apart from the others. */
async function surveyedBy(member: InputMember, options: OneDocumentOptions): Promise<SurveyedDocument> {
  const ahead = await lookAhead(member, options);
  if (typeof ahead === 'string') return { ahead, cuts: null };
  const surveying = { rows: { level: ahead.level }, rangeBytes: options.rangeBytes };
  const pieces: (PieceOfRows | null)[] = [];
  for (let number = 0; number < (await countPieces(member, surveying)); number += 1)
    pieces.push(
      // as it comes from another process
      JSON.parse(JSON.stringify(await surveyPiece(member, number, surveying))) as PieceOfRows | null,
    );
  const cuts = await levelCutsOfPieces(member, pieces, surveying);
  return { ahead, cuts };
}

/** `rangeBytes`: null: the document whole. `inPieces`: places to cut at are looked for in pieces of the document. */
export async function loaded(
  model: RelationalModel,
  document: Uint8Array,
  rangeBytes: number | null,
  request: Partial<LoaderSession['request']> = {},
  inPieces = false,
): Promise<Loaded> {
  const log: string[] = [];
  const session: LoaderSession = {
    request: { ...requestDefaults, tool: 'xml2er', keys: 'sequence', ...request },
    limits: defaultEngineLimits,
    kernels: createTokenizerKernels(),
    idJob: 7,
    jobUuid: uuidOfJob(7),
    byHand: true,
    log: (line) => void log.push(line),
    progress: () => undefined,
  };
  const chunks: Pick<RowChunk, 'table' | 'bytes'>[] = [];
  const unconvertedValues: UnconvertedValue[] = [];
  const nullAllowed = new Set<string>();
  const sink = {
    encoding: 'copy-text',
    widensInPlace: true,
    scalesDecimals: false,
    write: async (table: number, bytes: Uint8Array) => void chunks.push({ table, bytes: bytes.slice() }),
    writeSide: async (table: 'documents' | 'unmapped' | 'lexical', bytes: Uint8Array) =>
      void chunks.push({ table, bytes: bytes.slice() }),
    unconverted: async (value: UnconvertedValue) => void unconvertedValues.push(value),
    allowNull: (table: number, column: number) => void nullAllowed.add(`${table}/${column}`),
  } as const;
  const logical = { idSch: 1, idLschma: 1, model } as unknown as ConstructorParameters<typeof Loader>[1];
  const options = { withStatistics: true, rowTag: null, rejects: createRejects(() => undefined) };
  const member = memberOf(document);
  const one = { session, logical, sink, withStatistics: true, rangeBytes: rangeBytes ?? 0 };
  const surveyed = inPieces ? await surveyedBy(member, one) : undefined;
  const cut = rangeBytes === null ? null : await cutOrSay(session, member, one, { surveyed });
  const keyRanges = new KeyRanges(new Map(), false, '');
  const statistics = new UnitStatistics();
  const findings: LoadFindings[] = [];
  // two readers take turns
  const loaders = [0, 1].map(() => new Loader(session, logical, sink, options, new Map(), 0));
  const ranges = cut?.ranges ?? [undefined];
  let opened: Awaited<ReturnType<NonNullable<typeof cut>['opened']>> = [];
  for (const [at, range] of ranges.entries()) {
    const loader = loaders[at % 2]!;
    if (range === undefined) await loader.load(member);
    else {
      const keys = keyRanges.next({ firstIndex: 0, bytes: range.to - range.from, packed: false });
      if (at === 0) opened = await cut!.opened(keys);
      // as it goes to another process
      const place = JSON.parse(JSON.stringify(opened[at]!)) as (typeof opened)[number];
      loader.expect({ hashes: null });
      loader.numberFrom(keys.key, keys.document);
      await loader.load(memberOfRange(member, { ...place, sha256 }));
      checkLastKeys(loader.lastKeys(), keys, member.path, '');
    }
    statistics.add(loader.takeStatistics()!, opened[at]?.within!.open.names ?? null);
  }
  for (const loader of loaders) {
    await loader.flush();
    findings.push(loader.findings());
  }
  return {
    rows: rowsOf(model, chunks),
    unconvertedValues,
    nullAllowed: [...nullAllowed].toSorted(),
    statistics: statistics.result(),
    findings: addFindings(findings),
    ranges: ranges.length,
    starts: ranges.map((range) => range?.from ?? 0),
    log,
  };
}

/** Rows and what belongs to them in no order, with each key as its place among those of its table, and without times and hashes. */
export function byValue(model: RelationalModel, { rows, unconvertedValues }: Loaded): unknown {
  const places = new Map(
    model.tables.map(({ name, columns }) => {
      const column = columns.find(({ role }) => role === 'row_key')?.name;
      const keys = (rows[name] ?? []).map((row) => Number(column === undefined ? 0 : row[column]));
      const sorted = keys.toSorted((a, b) => a - b);
      return [name, new Map(sorted.map((key, place) => [String(key), `${name} ${place}`]))];
    }),
  );
  const placeOf = (table: string, key: string | null): string | null =>
    key === null ? null : (places.get(table)?.get(key) ?? `${table}: ${key} is nowhere`);
  const tables = model.tables.map(({ name, columns }) => {
    const known = (rows[name] ?? []).map((row) =>
      columns.map(({ name: column, role, references }) => {
        const value = row[column] ?? null;
        if (role === 'row_key' && references === null) return placeOf(name, value);
        return references === null ? value : placeOf(model.tables[references]!.name, value);
      }),
    );
    return [name, known.map((row) => JSON.stringify(row)).toSorted()];
  });
  const side = (name: string, place: (row: Row) => Row): unknown[] =>
    (rows[name] ?? []).map((row) => JSON.stringify(place(row))).toSorted();
  return {
    tables: Object.fromEntries(tables) as Record<string, string[]>,
    documents: side('_documents', ({ name = null, bytes = null, job = null, document_key = null }) => ({
      name,
      bytes,
      job,
      document_key,
    })),
    unmapped: side('_unmapped', (row) => ({
      ...row,
      parent_key: placeOf(row['parent_table']!, row['parent_key']!),
    })),
    lexical: side('_lexical', (row) => ({ ...row, row_key: placeOf(row['table_name']!, row['row_key']!) })),
    unconverted: unconvertedValues
      .map(({ table, column, rowKey, text }) =>
        JSON.stringify([table, column, placeOf(model.tables[table]!.name, String(rowKey)), text]),
      )
      .toSorted(),
  };
}
