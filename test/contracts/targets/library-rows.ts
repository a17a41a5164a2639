/** Rows of the hand-written library model, encoded as the shredder does, and written into a sink. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../src/engine/model/side-tables.ts';
import { ByteBuffer } from '../../../src/engine/shred/byte-buffer.ts';
import { rowEncoderFor, rowFormFor } from '../../../src/engine/shred/row-output.ts';
import type { NamedType } from '../../../src/engine/shred/json-line-members.ts';
import type { RowEncoding, RowSink, SideTable, SinkPlan } from '../../../src/ports/row-sink.ts';
import { at, libraryModel, oddColumns } from '../../unit/engine/sql/library-model.ts';
import { hashOfLogical, uuidOfJob } from '../../support/models/job-names.ts';

export type Value = string | number | boolean | null;

/** Characters that some encoding must escape. */
export const awkwardValues = [
  '\\.',
  '\\N',
  'tab\there',
  'line\nfeed',
  'carriage\rreturn',
  'back\\slash',
  `"double" 'single'`,
  '😀',
  '',
  ',;',
];

/** `table`: one of `model`, or a side table, of which all values of a row are given; what separates values needs none. */
export function encodeRows(
  encoding: RowEncoding,
  rows: readonly (readonly Value[])[],
  table?: number | SideTable,
  model: RelationalModel = libraryModel,
): Uint8Array {
  const columns = table === undefined ? [] : columnsOf(table, model);
  const { trueText, falseText } = rowEncoderFor(encoding);
  const form = rowFormFor(encoding, columns);
  const out = new ByteBuffer(1024);
  for (const row of rows) {
    for (const [index, value] of row.entries()) {
      const text = value === true ? trueText : value === false ? falseText : String(value);
      const bytes = new TextEncoder().encode(text);
      if (value === null) form.nothing(out, index);
      else form.text(out, index, bytes, 0, bytes.length);
    }
    form.end(out);
  }
  return out.take();
}

function columnsOf(table: number | SideTable, model: RelationalModel): readonly NamedType[] {
  return typeof table === 'number' ? model.tables[table]!.columns : sideTableDefinitions[table].columns;
}

export function libraryPlan(idJob: number, more: Partial<SinkPlan> = {}): SinkPlan {
  const idLschma = more.idLschma === undefined ? 2 : more.idLschma;
  return {
    model: libraryModel,
    saveMode: 'append',
    idJob,
    jobUuid: uuidOfJob(idJob, more.installation),
    idSch: 1,
    idLschma,
    modelHash: hashOfLogical(idLschma),
    allTables: false,
    keys: 'sequence',
    ...more,
  };
}

export interface LibraryRows {
  readonly documents: Value[][];
  readonly tables: ReadonlyMap<number, Value[][]>;
  readonly lastKeys: ReadonlyMap<string, number>;
}

/**
 * `count` documents: a library with two books, one of them with a person, nested sections and their text, a group and a note
 * that refer to each other, and a row of awkward values. Keys count on from `offsets`.
 */
export function libraryRows(
  idJob: number,
  count = 1,
  offsets: ReadonlyMap<string, number> = new Map(),
): LibraryRows {
  const last = new Map(offsets);
  const next = (table: string): number => {
    const key = (last.get(table) ?? 0) + 1;
    last.set(table, key);
    return key;
  };
  const documents: Value[][] = [];
  const tables = new Map<number, Value[][]>();
  const add = (table: number, ...values: Value[]): number => {
    const key = next(libraryModel.tables[table]!.name);
    const rows = tables.get(table) ?? [];
    tables.set(table, rows);
    rows.push([key, ...values]);
    return key;
  };
  for (let document = 1; document <= count; document += 1) {
    const documentKey = next('_documents');
    documents.push([
      documentKey,
      `job ${idJob} file ${document}.xml`,
      'ab',
      100,
      '2026-11-05T10:00:00Z',
      idJob,
      uuidOfJob(idJob),
    ]);
    const library = add(
      at.library,
      documentKey,
      `Library ${document}`,
      '2020-02-29',
      '2026-11-05T10:00:00+02:00',
      true,
    );
    const book = (n: number): number =>
      add(
        at.book,
        library,
        n,
        `${idJob}-${document}-${n}`,
        `Title ${n}`,
        '12.50',
        '0.1234567890123456789012345',
        320,
        1,
        1.5,
        0.25,
        '10:00:00',
        '2026-01-01T00:00:00',
        '{a,b}',
        '{1,2}',
        null,
      );
    const [first, second] = [book(1), book(2)];
    add(at.person, library, null, 1, 'Ada', '1815-12-10');
    add(at.person, null, first, 2, 'Grace', null);
    const outer = add(at.section, second, null, 1, 'Outer');
    const inner = add(at.section, null, outer, 1, 'Inner');
    add(at.sectionText, inner, 1, 'some text');
    const group = add(at.group, library, null, 1, 'A');
    const note = add(at.note, group, 1, 'B');
    add(at.group, null, note, 1, 'C');
    for (let i = 0; i < awkwardValues.length; i += 1) {
      add(
        at.odd,
        library,
        i + 1,
        ...oddColumns.map((_, shift) => awkwardValues[(i + shift) % awkwardValues.length]!),
      );
    }
  }
  return { documents, tables, lastKeys: last };
}

/** Writes everything, each table in one buffer. */
export async function writeLibrary(sink: RowSink, rows: LibraryRows, model = libraryModel): Promise<void> {
  const { documents } = rows;
  await sink.writeSide('documents', encodeRows(sink.encoding, documents, 'documents'), documents.length);
  for (const [table, values] of rows.tables)
    await sink.write(table, encodeRows(sink.encoding, values, table, model), values.length);
}

/** Opens, writes `count` documents and publishes them. */
export async function loadLibrary(
  sink: RowSink,
  plan: SinkPlan,
  count = 1,
): Promise<Awaited<ReturnType<RowSink['publish']>>> {
  const rows = libraryRows(
    plan.idJob,
    (await sink.open(plan)) === 'load' ? count : 0,
    await sink.keyOffsets(),
  );
  if (rows.documents.length > 0) await writeLibrary(sink, rows, plan.model);
  return sink.publish(async () => true, rows.lastKeys);
}
