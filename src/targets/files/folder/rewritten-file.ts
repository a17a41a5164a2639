/** Rewrites a file of a table so that its text columns have values as in the documents, from files of `_lexical`. */
import { createHash } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sideTableDefinitions } from '../../../engine/model/side-tables.ts';
import { recordForms, type RecordFormat } from '../../../engine/records/split.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { openDuckDb, pathLiteral } from '../../sql/duckdb/database.ts';
import { converted } from '../../sql/duckdb/types.ts';
import type { FileOfJob } from './manifest.ts';
import { recordsOf, storedText, textIn, valuesIn } from './text-records.ts';

export interface TableFile {
  readonly path: string;
  /** names in the order of the file */
  readonly columns: readonly string[];
  /** for Parquet: DuckDB's types of the columns */
  readonly types?: readonly string[] | undefined;
}

export interface WrittenColumns {
  readonly table: string;
  /** names of columns that are text in the folder */
  readonly columns: ReadonlySet<string>;
  /** keyed by column of instants: the column with the minutes that each value is written ahead of UTC */
  readonly offsets: ReadonlyMap<string, string>;
  /** files of `_lexical` with entries for rows of the file */
  readonly lexical: readonly string[];
}

export interface FileRewriting {
  /** Rewrites a file as a draft, in the folder's layout. Returns null if none of its values changes; then there is no draft. */
  readonly rewrite: RewriteRows;
  /** the folder of all files */
  readonly directory: string;
  /** the folder for unfinished files */
  readonly scratch: string;
}

export type RewriteRows = (
  rewriting: Pick<FileRewriting, 'directory' | 'scratch'>,
  file: TableFile,
  written: WrittenColumns,
  draft: string,
) => Promise<Pick<FileOfJob, 'types'> | null>;

type Rewritten = Pick<FileOfJob, 'bytes' | 'sha256' | 'types'>;

/** Rewrites the file durably at `to`, which may be its own path. Returns null if none of its values changes. */
export async function rewriteFile(
  rewriting: FileRewriting,
  file: TableFile,
  written: WrittenColumns,
  to: string,
): Promise<Rewritten | null> {
  const { rewrite, scratch } = rewriting;
  const draft = join(scratch, 'written');
  try {
    const made = await rewrite(rewriting, file, written, draft);
    if (made === null) return null;
    const told = await durably(draft);
    await rename(draft, to);
    return { ...told, ...made };
  } finally {
    await rm(draft, { force: true });
  }
}

async function durably(path: string): Promise<Omit<Rewritten, 'types'>> {
  const hash = createHash('sha256');
  const file = await open(path, 'r');
  try {
    await file.sync();
    for await (const piece of file.createReadStream({ autoClose: false })) hash.update(piece as Buffer);
  } finally {
    await file.close();
  }
  const { size: bytes } = await stat(path);
  return { bytes, sha256: hash.digest('hex') };
}

/** The maximum number of entries in memory; the file is read once for each such group of entries. */
const maxHeld = 1_000_000;

/** The texts by row key (digits) and column name. */
type Entries = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Returns false if no value of the file changes; then there is no draft. */
export async function patchedRecords(
  format: RecordFormat,
  file: TableFile,
  written: WrittenColumns,
  draft: string,
): Promise<boolean> {
  const places = new Map(file.columns.map((name, at) => [name, at]));
  const next = `${draft}-next`;
  let from: string | null = null;
  try {
    for await (const entries of entriesOf(format, written)) {
      if (!(await patchOnce(format, { from: from ?? file.path, places }, entries, next))) continue;
      await rename(next, draft);
      from = draft;
    }
  } finally {
    await rm(next, { force: true });
  }
  return from !== null;
}

async function* entriesOf(
  format: RecordFormat,
  { table, columns, lexical }: WrittenColumns,
): AsyncGenerator<Entries, void, void> {
  const names = sideTableDefinitions.lexical.columns.map(({ name }) => name);
  const [ofTable, ofKey, ofColumn, ofContent] = ['table_name', 'row_key', 'column_name', 'content'].map(
    (name) => names.indexOf(name),
  ) as [number, number, number, number];
  let entries = new Map<string, Map<string, string>>();
  let held = 0;
  for (const path of lexical) {
    let isHeader: boolean = recordForms[format].hasHeader;
    for await (const record of recordsOf(path, format)) {
      if (isHeader) {
        isHeader = false;
        continue;
      }
      const values = valuesIn(record, format);
      const text = (at: number): string => textIn(record, values[at]!, format);
      if (text(ofTable) !== table || !columns.has(text(ofColumn))) continue;
      const content = text(ofContent);
      // an empty value is NULL
      if (content.trim() === '') continue;
      const key = text(ofKey);
      const ofRow = entries.get(key) ?? new Map<string, string>();
      entries.set(key, ofRow.set(text(ofColumn), content));
      held += 1;
      if (held < maxHeld) continue;
      yield entries;
      entries = new Map();
      held = 0;
    }
  }
  if (held > 0) yield entries;
}

/** Returns false if the entries are for other rows. */
async function patchOnce(
  format: RecordFormat,
  { from, places }: { readonly from: string; readonly places: ReadonlyMap<string, number> },
  entries: Entries,
  to: string,
): Promise<boolean> {
  const out = await open(to, 'w');
  try {
    let isPatched = false;
    let pending: Buffer[] = [];
    let pendingBytes = 0;
    const flush = async (): Promise<void> => {
      await out.writeFile(Buffer.concat(pending));
      pending = [];
      pendingBytes = 0;
    };
    for await (const record of recordsOf(from, format)) {
      const values = valuesIn(record, format);
      // every record begins with the row's key, except the header line
      const ofRow = entries.get(textIn(record, values[0]!, format));
      const pieces = ofRow === undefined ? [record] : patched(record, values, ofRow);
      isPatched ||= ofRow !== undefined;
      for (const piece of pieces) pendingBytes += piece.length;
      pending.push(...pieces);
      if (pendingBytes >= 1024 * 1024) await flush();
    }
    await flush();
    return isPatched;
  } finally {
    await out.close();
  }

  function patched(
    record: Buffer,
    values: ReturnType<typeof valuesIn>,
    ofRow: ReadonlyMap<string, string>,
  ): Buffer[] {
    const changes = [...ofRow]
      .flatMap(([column, content]) => {
        const place = values[places.get(column) ?? -1];
        return place === undefined ? [] : [{ place, content }];
      })
      .toSorted((a, b) => a.place[0] - b.place[0]);
    const pieces: Buffer[] = [];
    let end = 0;
    for (const { place, content } of changes) {
      pieces.push(record.subarray(end, place[0]), storedText(content, format));
      end = place[1];
    }
    return [...pieces, record.subarray(end)];
  }
}

const memoryBytes = 256 * 1024 * 1024;

/** Returns the types of the new file's columns; null if the file would not change. */
export async function joinedParquet(
  { directory, scratch }: Pick<FileRewriting, 'directory' | 'scratch'>,
  { path, columns, types = [] }: TableFile,
  written: WrittenColumns,
  draft: string,
): Promise<readonly string[] | null> {
  const database = await openDuckDb(':memory:', { directory, spill: join(scratch, 'spill'), memoryBytes });
  try {
    const typed = columns.map((name, at) => ({ name, type: types[at] ?? 'VARCHAR' }));
    const texts = typed.filter(({ name }) => written.columns.has(name));
    const entries = (column: string): string =>
      written.lexical.length === 0
        ? '(SELECT NULL::BIGINT AS row_key, NULL::VARCHAR AS content WHERE false)'
        : `(SELECT row_key, any_value(content) AS content FROM read_parquet([${written.lexical.map(pathLiteral).join(', ')}])
        WHERE table_name = ${standardLiteral(written.table)} AND column_name = ${standardLiteral(column)} AND trim(content) <> '' GROUP BY row_key)`;
    if (!texts.some(({ type }) => type !== 'VARCHAR')) {
      const counts = texts.map(({ name }) => `(SELECT count(*) FROM ${entries(name)})`);
      const [row] = await database.read<{ found: bigint }>(`SELECT ${counts.join(' + ')} AS found`);
      if (Number(row!.found) === 0) return null;
    }
    const values = typed.map(({ name, type }) => {
      const column = `t.${doubleQuoted(name)}`;
      const at = texts.findIndex((text) => text.name === name);
      if (at < 0) return column;
      const offset = written.offsets.get(name);
      const isTold = offset !== undefined && columns.includes(offset);
      const text =
        type === 'VARCHAR'
          ? column
          : converted(column, type, 'VARCHAR', isTold ? `t.${doubleQuoted(offset)}` : null);
      return `coalesce(l${at}.content, ${text}) AS ${doubleQuoted(name)}`;
    });
    const joins = texts.map(
      ({ name }, at) =>
        `LEFT JOIN ${entries(name)} l${at} ON l${at}.row_key = t.${doubleQuoted(columns[0]!)}`,
    );
    const [pandas] = await database.read<{ value: string }>(
      `SELECT decode(value) AS value FROM parquet_kv_metadata(${pathLiteral(path)}) WHERE decode(key) = 'pandas'`,
    );
    const metadata = pandas === undefined ? '' : `, KV_METADATA {pandas: ${standardLiteral(pandas.value)}}`;
    await database.run(
      `COPY (SELECT ${values.join(', ')} FROM read_parquet(${pathLiteral(path)}, file_row_number = true) t ${joins.join(' ')} ORDER BY t.file_row_number)
       TO ${standardLiteral(draft)} (FORMAT parquet, COMPRESSION zstd${metadata})`,
    );
    return typed.map(({ name, type }) => (written.columns.has(name) ? 'VARCHAR' : type));
  } finally {
    database.close();
  }
}
