/** The publishing transaction of a DuckDB file: from staged CSV to rows of the target, all at once. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { adaptTable, incomingTypes, type Incoming } from './alter-tables.ts';
import { stagedColumn, stagedRows, stagedValue, type StagedCsv } from './csv-import.ts';
import { foldedName } from './database.ts';
import { publishCodes } from './code-lists.ts';
import { dropViewsOfNames, publishViews } from './entity-views.ts';
import { beginMerge } from './merge.ts';
import { clearTables } from './overwrite.ts';
import { columnId, widenedWords } from '../../../adapters/row-sinks/unfit-columns.ts';
import { ledgerStatement } from '../../../adapters/row-sinks/ledger.ts';
import { textColumns, writtenTextStatement } from '../../../adapters/row-sinks/written-texts.ts';
import type { StagedRowsFile } from '../database-files/sink.ts';
import { runAll, type DuckDbPublication } from './publication.ts';
import { readTables, sideTableStatements, tableStatements } from './tables.ts';
import { columnSqlType } from './types.ts';

/**
 * Staged bytes after which a transaction ends and another one begins, in a file that nobody else knows: of each table that it fills a transaction holds
 * up to 122,880 rows in memory, outside of the limit that DuckDB is given.
 */
const mostHeldBytes = 16 * 1024 * 1024;

/** A table that is there, and can take the staged rows. */
interface ReadyTable {
  readonly csv: StagedRowsFile;
  readonly incoming: readonly Incoming[];
  /** of its columns, in the model's order */
  readonly types: readonly string[];
}

/** Rows added by table name of the model. */
export async function publishRows(publication: DuckDbPublication): Promise<Record<string, number>> {
  const { database, plan, tables, staged } = publication;
  await dropViewsOfNames(publication);
  await runAll(database, sideTableStatements(publication.known));
  if (plan.saveMode === 'overwrite') await clearTables(publication);
  publication.known = await readTables(database);
  const offsets = await keyOffsets(publication);
  const texts = new Map<string, 'turned' | 'text'>();
  const ready = new Map<number, ReadyTable>();
  // before rows go: DuckDB commits no transaction that alters a table after it has deleted rows of it
  for (const [index, table] of tables.entries()) {
    const csv = staged.get(index);
    if (csv === undefined) {
      if (plan.allTables && !publication.known.has(foldedName(table.name)))
        await makeTable(publication, index, incomingDefaults(publication, index));
      continue;
    }
    const incoming = await incomingTypes(publication, index, csv);
    const known = publication.known.get(foldedName(table.name));
    if (known === undefined) await makeTable(publication, index, incoming);
    const types =
      known === undefined
        ? incoming.map(({ sqlType }) => sqlType)
        : await adaptTable(publication, index, known, incoming);
    for (const [at, type] of types.entries()) {
      const wasText =
        known === undefined || known.columns.get(foldedName(table.columns[at]!.name))?.type === 'VARCHAR';
      if (type === 'VARCHAR') texts.set(columnId(index, at), wasText ? 'text' : 'turned');
    }
    ready.set(index, { csv, incoming, types });
  }
  const merging = plan.saveMode === 'merge' ? await beginMerge(publication) : null;
  publication.merging = merging;
  const documents = await addDocuments(publication, offsets);
  const rows: Record<string, number> = {};
  let heldBytes = 0;
  for (const [index, table] of ready) {
    rows[plan.model.tables[index]!.name] = await insert(publication, index, table, offsets);
    heldBytes += table.csv.bytes;
    if (!publication.isNew || heldBytes < mostHeldBytes) continue;
    for (const step of ['COMMIT', 'CHECKPOINT', 'BEGIN']) await database.run(step);
    heldBytes = 0;
  }
  await addSideRows(publication, offsets);
  const textOf = (index: number, at: number) => texts.get(columnId(index, at)) ?? null;
  await runAll(
    database,
    textColumns(plan.model, tables, staged.has('lexical'), textOf).map((column) =>
      writtenTextStatement(column, plan.jobUuid, doubleQuoted),
    ),
  );
  await keepKeys(publication);
  await publishCodes(publication);
  await publishViews(publication);
  const total = sumOf(rows) - sumOf(merging?.removed.rows ?? {});
  await database.run(
    ledgerStatement(
      plan,
      { documents: documents - (merging?.removed.documents ?? 0), rows: total },
      { into: doubleQuoted(sideTableNames.loads), now: 'now()', quote: doubleQuoted },
    ),
  );
  return rows;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/**
 * By folded table name, `_documents` among them: what is added to this job's keys, which count from 1. No key is given twice, also
 * where the rows that had it are gone: the counter outlives rows and tables.
 */
async function keyOffsets(publication: DuckDbPublication): Promise<ReadonlyMap<string, bigint>> {
  const { database, plan, tables, known } = publication;
  const offsets = new Map<string, bigint>();
  if (plan.keys === 'hash') return offsets;
  const raise = (name: string, key: bigint | null): void => {
    const folded = foldedName(name);
    if (key !== null && key > (offsets.get(folded) ?? 0n)) offsets.set(folded, key);
  };
  // one table may have had its name in other cases of letters
  for (const { name, key } of await database.read<{ name: string; key: bigint }>(
    `SELECT table_name AS name, last_value AS key FROM ${doubleQuoted(sideTableNames.keys)}`,
  ))
    raise(name, key);
  const keyed = tables.flatMap(({ name, primaryKey }) =>
    known.has(foldedName(name)) && primaryKey.length > 0 ? [[name, primaryKey[0]!] as const] : [],
  );
  keyed.push([sideTableNames.documents, sideTableDefinitions.documents.primaryKey[0]!]);
  const queries = keyed.map(
    ([name, key]) =>
      `SELECT ${standardLiteral(name)} AS name, max(${doubleQuoted(key)}) AS key FROM ${doubleQuoted(name)}`,
  );
  for (let from = 0; from < queries.length; from += 200) {
    const rows = await database.read<{ name: string; key: bigint | null }>(
      queries.slice(from, from + 200).join(' UNION ALL '),
    );
    for (const { name, key } of rows) raise(name, key);
  }
  return offsets;
}

function incomingDefaults({ plan, tables, nullAllowed }: DuckDbPublication, index: number): Incoming[] {
  return tables[index]!.columns.map((column, at) => ({
    sqlType: columnSqlType(plan.model.tables[index]!.columns[at]!.type),
    nullable: column.nullable || nullAllowed.has(columnId(index, at)),
  }));
}

async function makeTable(
  publication: DuckDbPublication,
  index: number,
  columns: readonly Incoming[],
): Promise<void> {
  const table = publication.tables[index]!;
  await runAll(publication.database, tableStatements(table, columns));
  for (const [at, column] of table.columns.entries()) {
    const wider = publication.widened.get(columnId(index, at));
    if (wider !== undefined) publication.changes.push(`${table.name}.${column.name}: ${widenedWords(wider)}`);
    if (!column.nullable && columns[at]!.nullable)
      publication.changes.push(`${table.name}.${column.name}: NOT NULL dropped`);
  }
}

async function insert(
  publication: DuckDbPublication,
  index: number,
  { csv, incoming, types }: ReadyTable,
  offsets: ReadonlyMap<string, bigint>,
): Promise<number> {
  const { database, plan } = publication;
  const table = publication.tables[index]!;
  const keyAt = table.columns.findIndex(({ name }) => table.primaryKey.includes(name));
  const values = table.columns.map(({ name }, at) => {
    const owner = table.keyOwners.get(name);
    const offset = owner === undefined ? 0n : (offsets.get(foldedName(owner)) ?? 0n);
    const { type } = plan.model.tables[index]!.columns[at]!;
    const isText = publication.textRows.get(columnId(index, at));
    const texts = isText === undefined ? undefined : { keys: isText, key: stagedColumn(keyAt) };
    const value = stagedValue(stagedColumn(at), type, types[at]!, incoming[at]!.digits, texts);
    return offset === 0n ? value : `${value} + ${offset}`;
  });
  const columns = table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  const into = `INSERT INTO ${doubleQuoted(table.name)} (${columns})`;
  if (plan.keys === 'hash' && keyAt >= 0) {
    return database.run(
      `${into} SELECT ${values.join(', ')} FROM (${newRows(csv, keyAt, table.name, table.primaryKey[0]!)})`,
    );
  }
  return database.run(`${into} SELECT ${values.join(', ')} FROM ${stagedRows(csv)}`);
}

/** Staged rows whose key is not there yet, each key once. */
function newRows(csv: StagedCsv, keyAt: number, table: string, key: string): string {
  const staged = stagedColumn(keyAt);
  return `SELECT DISTINCT ON (${staged}) s.* FROM ${stagedRows(csv)} s
    WHERE NOT EXISTS (SELECT 1 FROM ${doubleQuoted(table)} t WHERE t.${doubleQuoted(key)} = s.${staged}::BIGINT)`;
}

async function addDocuments(
  publication: DuckDbPublication,
  offsets: ReadonlyMap<string, bigint>,
): Promise<number> {
  const { database, plan, staged } = publication;
  const csv = staged.get('documents');
  if (csv === undefined) return 0;
  const { columns, primaryKey } = sideTableDefinitions.documents;
  const documents = sideTableNames.documents;
  if (plan.keys === 'hash') await noteOldDocuments(publication);
  const offset = offsets.get(documents) ?? 0n;
  const values = columns.map(({ type }, at) => stagedValue(stagedColumn(at), type, columnSqlType(type)));
  if (offset > 0n) values[0] += ` + ${offset}`;
  const source = plan.keys === 'hash' ? `(${newRows(csv, 0, documents, primaryKey[0]!)})` : stagedRows(csv);
  const names = columns.map(({ name }) => doubleQuoted(name));
  const { merging } = publication;
  if (merging === null)
    return database.run(
      `INSERT INTO ${doubleQuoted(documents)} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${source}`,
    );
  const [name, sha256] = ['name', 'sha256'].map((wanted) =>
    columns.findIndex((column) => column.name === wanted),
  ) as [number, number];
  values[sha256] = 'm.sha256';
  return database.run(
    `INSERT INTO ${doubleQuoted(documents)} (${names.join(', ')}, key, valid_from) SELECT ${values.join(', ')}, m.key, ${merging.moment}
       FROM ${source} s JOIN ${merging.documents} m ON m.name = s.${stagedColumn(name)} AND m.written = s.${stagedColumn(sha256)}`,
  );
}

/** With hashed keys everything of a document that is there already is there already. */
async function noteOldDocuments({ database, oldDocuments }: DuckDbPublication): Promise<void> {
  await database.run(
    `CREATE TEMP TABLE ${oldDocuments} AS SELECT document_key FROM ${doubleQuoted(sideTableNames.documents)}`,
  );
}

/** `_unmapped` and `_lexical` name rows of any table: each with its own shift. */
async function addSideRows(
  publication: DuckDbPublication,
  offsets: ReadonlyMap<string, bigint>,
): Promise<void> {
  const { database, plan, tables, staged, oldDocuments } = publication;
  const shifts = plan.model.tables.flatMap(({ name }, index) => {
    const offset = offsets.get(foldedName(tables[index]!.keysOf)) ?? 0n;
    return offset === 0n ? [] : [`(${standardLiteral(name)}, ${offset})`];
  });
  const documentShift = offsets.get(sideTableNames.documents) ?? 0n;
  // documents that are kept whole hang from themselves
  if (documentShift > 0n) shifts.push(`(${standardLiteral(sideTableNames.documents)}, ${documentShift})`);
  for (const [side, tableColumn, keyColumn] of [
    ['unmapped', 'parent_table', 'parent_key'],
    ['lexical', 'table_name', 'row_key'],
  ] as const) {
    const csv = staged.get(side);
    if (csv === undefined) continue;
    const { columns } = sideTableDefinitions[side];
    const values = columns.map(({ name, type }, at) => {
      const value = stagedValue(`s.${stagedColumn(at)}`, type, columnSqlType(type));
      if (name === 'document_key') return `${value} + ${documentShift}`;
      return name === keyColumn && shifts.length > 0 ? `${value} + coalesce(o.shift, 0)` : value;
    });
    const tableAt = columns.findIndex(({ name }) => name === tableColumn);
    const join =
      shifts.length === 0
        ? ''
        : ` LEFT JOIN (VALUES ${shifts.join(', ')}) o (name, shift) ON o.name = s.${stagedColumn(tableAt)}`;
    const isNew =
      plan.keys === 'hash'
        ? ` WHERE s.${stagedColumn(0)}::BIGINT NOT IN (SELECT document_key FROM ${oldDocuments})`
        : '';
    await database.run(
      `INSERT INTO ${doubleQuoted(sideTableNames[side])}
       SELECT ${plan.keys === 'hash' ? 'DISTINCT ' : ''}${values.join(', ')} FROM ${stagedRows(csv)} s${join}${isNew}`,
    );
  }
}

/** The highest keys given out; nothing where they follow from the documents. */
export async function givenKeys({
  database,
  plan,
}: DuckDbPublication): Promise<{ readonly keys?: Readonly<Record<string, number>> }> {
  if (plan.keys === 'hash') return {};
  const rows = await database.read<{ name: string; last: bigint }>(
    `SELECT table_name AS name, last_value AS last FROM ${doubleQuoted(sideTableNames.keys)}`,
  );
  return { keys: Object.fromEntries(rows.map(({ name, last }) => [name, Number(last)])) };
}

/** `_keys`: the highest key ever given out, of every table that took rows. */
async function keepKeys({ database, plan, tables, staged }: DuckDbPublication): Promise<void> {
  const highest = tables.flatMap(({ name, primaryKey }, index) =>
    staged.has(index) && primaryKey.length > 0 ? [[name, primaryKey[0]!] as const] : [],
  );
  if (staged.has('documents'))
    highest.push([sideTableNames.documents, sideTableDefinitions.documents.primaryKey[0]!]);
  // of tables whose keys are not counted it tells that loads made them
  const lastOf = (name: string, key: string): string =>
    plan.keys === 'hash' ? '0' : `max(${doubleQuoted(key)}) FROM ${doubleQuoted(name)}`;
  await runAll(
    database,
    highest.map(
      ([name, key]) =>
        `INSERT INTO ${doubleQuoted(sideTableNames.keys)} (table_name, last_value)
         SELECT ${standardLiteral(name)}, ${lastOf(name, key)}
         ON CONFLICT (table_name) DO UPDATE SET last_value = greatest(last_value, excluded.last_value)`,
    ),
  );
}
