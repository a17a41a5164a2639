/** The publishing transaction of a SQLite file: from staged text to rows of the target, all at once. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { foldedName } from './database.ts';
import { converterFor, fieldsOf, stagedLines, type BoundValue } from './staged-text.ts';
import { readTables, sideTableStatements, tableStatement } from './tables.ts';
import { columnId, widenedWords } from '../../../adapters/row-sinks/unfit-columns.ts';
import { ledgerStatement } from '../../../adapters/row-sinks/ledger.ts';
import { textColumns, writtenTextStatement } from '../../../adapters/row-sinks/written-texts.ts';
import { isText } from './types.ts';
import { adaptTable } from './alter-tables.ts';
import { publishCodes } from './code-lists.ts';
import { dropViewsOfNames, publishViews } from './entity-views.ts';
import { makeIndexes } from './indexes.ts';
import { insertRows, type KeyOffsets } from './insert-rows.ts';
import { clearTables } from './overwrite.ts';
import { documentIdentity } from '../../../adapters/row-sinks/merging.ts';
import { beginMerge } from './merge.ts';
import { drawForRows, runAll, type SqliteMerging, type SqlitePublication } from './publication.ts';

/** Rows added by table name of the model. */
export async function publishRows(first: SqlitePublication): Promise<Record<string, number>> {
  const { database, plan, staged } = first;
  await dropViewsOfNames(first);
  await runAll(database, sideTableStatements(first.known));
  if (plan.saveMode === 'overwrite') await clearTables(first);
  const known = readTables(database);
  const publication = { ...first, known, drawn: drawForRows(plan.model, known, first) };
  const { drawn } = publication;
  const offsets = keyOffsets(publication);
  const merging = plan.saveMode === 'merge' ? await beginMerge(publication) : null;
  first.merging = merging;
  const old =
    plan.keys === 'hash' && staged.has('documents') ? documentsThere(publication) : new Set<string>();
  const documents = await addSide(publication, 'documents', offsets, old, merging);
  const rows: Record<string, number> = {};
  const texts = new Map<string, 'turned' | 'text'>();
  for (const index of plan.model.tables.keys()) {
    const isStaged = staged.has(index);
    const isThere = publication.known.has(foldedName(drawn.tables[index]!.name));
    if (!isStaged && (isThere || !plan.allTables)) continue;
    const types = await readyTable(publication, index);
    const there = publication.known.get(foldedName(drawn.tables[index]!.name))?.columns;
    for (const [at, type] of types.entries()) {
      const before = there?.get(foldedName(drawn.tables[index]!.columns[at]!.name))?.type;
      if (isText(type))
        texts.set(columnId(index, at), before === undefined || isText(before) ? 'text' : 'turned');
    }
    const lists = drawn.lists.filter(({ owner }) => owner === index).map(({ table }) => table!);
    const itemTypes = new Map<number, string>();
    for (const list of lists) itemTypes.set(list, (await readyTable(publication, list))[3]!);
    if (isStaged)
      rows[plan.model.tables[index]!.name] = await insertRows(publication, index, types, itemTypes, offsets);
  }
  await makeIndexes(publication);
  for (const side of ['unmapped', 'lexical'] as const) await addSide(publication, side, offsets, old);
  const textOf = (index: number, at: number) => texts.get(columnId(index, at)) ?? null;
  await runAll(
    database,
    textColumns(plan.model, drawn.tables, staged.has('lexical'), textOf).map((column) =>
      writtenTextStatement(column, plan.jobUuid, doubleQuoted),
    ),
  );
  keepKeys(publication);
  await publishCodes(publication);
  await publishViews(publication);
  const total = sumOf(rows) - sumOf(merging?.removed.rows ?? {});
  await database.run(
    ledgerStatement(
      plan,
      { documents: documents - (merging?.removed.documents ?? 0), rows: total },
      {
        into: doubleQuoted(sideTableNames.loads),
        now: standardLiteral(new Date().toISOString()),
        quote: doubleQuoted,
      },
    ),
  );
  return rows;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The table is there, and takes what comes; answers the types of its columns. */
async function readyTable(publication: SqlitePublication, index: number): Promise<string[]> {
  const { database, drawn, known, plan, made, changes } = publication;
  const table = drawn.tables[index]!;
  const there = known.get(foldedName(table.name));
  if (there !== undefined) return adaptTable(publication, index, there);
  await database.run(tableStatement(table));
  made.add(index);
  for (const [at, column] of table.columns.entries()) {
    const wider = publication.widened.get(columnId(index, at));
    if (wider !== undefined) changes.push(`${table.name}.${column.name}: ${widenedWords(wider)}`);
    if (plan.model.tables[index]?.columns[at]?.nullable === false && column.nullable)
      changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
  }
  return table.columns.map(({ sqlType }) => sqlType);
}

/**
 * By folded table name, `_documents` among them: what is added to this job's keys, which count from 1. No key is given twice, also
 * where the rows that had it are gone: the counter outlives rows and tables. With keys that follow from documents, items of lists alone
 * are numbered.
 */
function keyOffsets({ database, plan, drawn, known }: SqlitePublication): KeyOffsets {
  const offsets = new Map<string, bigint>();
  const raise = (name: string, key: bigint | null): void => {
    const folded = foldedName(name);
    if (key !== null && key > (offsets.get(folded) ?? 0n)) offsets.set(folded, key);
  };
  const lists = new Set(drawn.tables.slice(plan.model.tables.length).map(({ name }) => foldedName(name)));
  const isNumbered = (name: string): boolean => plan.keys === 'sequence' || lists.has(foldedName(name));
  for (const { name, key } of database.read<{ name: string; key: bigint }>(
    `SELECT table_name AS name, last_value AS key FROM ${doubleQuoted(sideTableNames.keys)}`,
  ))
    if (isNumbered(name)) raise(name, key);
  for (const [name, key] of keyedTables(drawn.tables))
    if (known.has(foldedName(name)) && isNumbered(name)) raise(name, highest(database, name, key));
  return offsets;
}

function keyedTables(
  tables: readonly { readonly name: string; readonly primaryKey: readonly string[] }[],
): (readonly [name: string, key: string])[] {
  return [
    ...tables.flatMap(({ name, primaryKey }) =>
      primaryKey.length > 0 ? [[name, primaryKey[0]!] as const] : [],
    ),
    [sideTableNames.documents, sideTableDefinitions.documents.primaryKey[0]!],
  ];
}

function highest({ read }: SqlitePublication['database'], table: string, key: string): bigint | null {
  return read<{ key: bigint | null }>(
    `SELECT max(${doubleQuoted(key)}) AS key FROM ${doubleQuoted(table)}`,
  )[0]!.key;
}

/** With hashed keys everything of a document that is there already is there already. */
function documentsThere({ database }: SqlitePublication): ReadonlySet<string> {
  return new Set(
    database
      .read<{ key: bigint }>(`SELECT document_key AS key FROM ${doubleQuoted(sideTableNames.documents)}`)
      .map(({ key }) => String(key)),
  );
}

const namedRows = {
  documents: null,
  unmapped: ['parent_table', 'parent_key'],
  lexical: ['table_name', 'row_key'],
} as const;

/** `_unmapped` and `_lexical` name rows of any table: each with its own shift. Answers how many rows were added. */
async function addSide(
  { database, plan, drawn, staged, signal }: SqlitePublication,
  side: keyof typeof namedRows,
  offsets: KeyOffsets,
  old: ReadonlySet<string>,
  merging: SqliteMerging | null = null,
): Promise<number> {
  const waiting = staged.get(side);
  if (waiting === undefined) return 0;
  const isHashed = plan.keys === 'hash';
  const { columns: ofSide } = sideTableDefinitions[side];
  const columns = merging === null ? ofSide : [...ofSide, ...mergeColumns];
  const convert = columns.map(({ type }) => converterFor(type, type.kind === 'text' ? 'TEXT' : 'INTEGER'));
  const shifts = new Map<string, bigint>(
    plan.model.tables.map(({ name }, index) => [
      name,
      offsets.get(foldedName(drawn.tables[index]!.keysOf)) ?? 0n,
    ]),
  );
  // documents that are kept whole hang from themselves
  const documentShift = offsets.get(sideTableNames.documents) ?? 0n;
  shifts.set(sideTableNames.documents, documentShift);
  const [tableAt, keyAt] = (namedRows[side] ?? []).map((name) =>
    columns.findIndex((one) => one.name === name),
  );
  const insert = database.prepareChange(
    `INSERT INTO ${doubleQuoted(sideTableNames[side])} (${columns.map(({ name }) => doubleQuoted(name)).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  );
  const seen = new Set<string>();
  let count = 0;
  for await (const lines of stagedLines(waiting.path)) {
    signal?.throwIfAborted();
    for (const line of lines) {
      const fields = fieldsOf(line);
      if (merging !== null) addMerged(merging, fields);
      if (isHashed) {
        // each document once, and what lies beside it once
        const told = side === 'documents' ? fields[0]! : JSON.stringify(fields);
        if (old.has(fields[0]!) || seen.has(told)) continue;
        seen.add(told);
      }
      const values: BoundValue[] = fields.map((field, at) => (field === null ? null : convert[at]!(field)));
      const shift = (at: number, by: bigint): void => {
        if (fields[at] != null && by > 0n) values[at] = String(BigInt(fields[at]) + by);
      };
      shift(0, documentShift);
      if (keyAt !== undefined) shift(keyAt, shifts.get(fields[tableAt!] ?? '') ?? 0n);
      insert.run(...values);
      count += 1;
    }
  }
  return count;
}

const [nameAt, sha256At] = ['name', 'sha256'].map((name) =>
  sideTableDefinitions.documents.columns.findIndex((column) => column.name === name),
) as [number, number];

/** Of a row for `_documents`, what a merge says of the document. */
function addMerged({ documents, moment }: SqliteMerging, fields: (string | null)[]): void {
  const document = documents.get(documentIdentity({ name: fields[nameAt]!, written: fields[sha256At]! }));
  if (document === undefined) throw new Error(`${fields[nameAt]} is none of the documents of this job`);
  fields[sha256At] = document.sha256;
  fields.push(document.key, moment, null);
}

/** The highest keys given out; nothing where they follow from the documents. */
export function givenKeys({ database, plan }: SqlitePublication): {
  readonly keys?: Readonly<Record<string, number>>;
} {
  if (plan.keys === 'hash') return {};
  const rows = database.read<{ name: string; last: bigint }>(
    `SELECT table_name AS name, last_value AS last FROM ${doubleQuoted(sideTableNames.keys)}`,
  );
  return { keys: Object.fromEntries(rows.map(({ name, last }) => [name, Number(last)])) };
}

/** `_keys`: the highest key ever given out, of every table that took rows. */
function keepKeys({ database, plan, drawn, staged, known, made }: SqlitePublication): void {
  const filled = drawn.tables.filter(({ name }, index) =>
    index < plan.model.tables.length ? staged.has(index) : made.has(index) || known.has(foldedName(name)),
  );
  const keep = database.prepareChange(
    `INSERT INTO ${doubleQuoted(sideTableNames.keys)} (table_name, last_value) VALUES (?, ?)
     ON CONFLICT (table_name) DO UPDATE SET last_value = max(last_value, excluded.last_value)`,
  );
  for (const [name, key] of keyedTables(filled)) {
    if (name === sideTableNames.documents && !staged.has('documents')) continue;
    // of tables whose keys are not counted it tells that loads made them
    const last = plan.keys === 'hash' ? 0 : highest(database, name, key);
    if (last !== null) keep.run(name, last);
  }
}
