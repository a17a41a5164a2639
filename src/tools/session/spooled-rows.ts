/** `--from`: rows become documents on this machine, as inputs by address do, and their other columns columns of tables. */
import { join, resolve } from 'node:path';
import type { QueryCell, QueryColumn, QueryRows } from '../../ports/row-source.ts';
import { rowDigest, openServerRows } from '../../inputs/server-rows.ts';
import { counted } from '../reports/summary.ts';
import { localFolder, localCopies } from './remote-sources.ts';
import { settledSession, type ToolSession } from './tool-session.ts';
import { chooseColumns, extraOf, type ChosenColumns, resume, type Resumption } from './row-marks.ts';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';
import { fileFault } from '../../storage/staging/durable-file.ts';
import { carriedRecord } from '../../inputs/archives/members.ts';
import type { CarriedValues } from '../../inputs/members.ts';
import { createOutgoingGuard } from '../../service/access/outgoing-guard.ts';
import { createHostResolver } from '../../network/checked-http.ts';
import { AppError } from '../../errors.ts';
import { rowSourceOf, type RowServer } from '../../service/jobs/request/row-source.ts';
import { inputPaths } from './resolve-inputs.ts';
import { createHash } from 'node:crypto';
import type { ColumnType } from '../../engine/model/relational-model.ts';

export interface SpooledRows {
  /** the session with the columns that are carried along */
  readonly session: ToolSession;
  /** archives of the documents, to be opened as inputs */
  readonly paths: readonly string[];
  /** there is no row to load, and none is missed: it was loaded before, or has no document */
  readonly isDone: boolean;
  /** The rows are in the target, or there were none. */
  settle(): Promise<void>;
}

/** AppErrors of the place, `invalid_option` if the columns are ambiguous; faults of a document are reported when it is read. */
export async function spooledRows(session: ToolSession): Promise<SpooledRows> {
  const rows = await openRows(session);
  try {
    return await spool(session, rows);
  } finally {
    await rows.close();
  }
}

async function spool(session: ToolSession, rows: QueryRows): Promise<SpooledRows> {
  const { request, soFar } = session;
  const columns = await rows.columns();
  const chosen = chooseColumns(columns, request);
  const resumption = request.after === undefined ? null : await resume(session, rows.label);
  const found = { rows: 0, without_document: 0, loaded_before: 0 };
  const documents = new DocumentSpool(join(localFolder(session, 'rows')));
  const begun = performance.now();
  for await (const row of rows.rows(orderOf(columns, chosen, resumption))) {
    found.rows += 1;
    session.progress(0);
    const cell = row[chosen.document]!;
    const values = chosen.carried.map(
      (at) => [columns[at]!.name, valueOf(columns[at]!.type, row[at]!)] as const,
    );
    const name = nameOf(values, found.rows);
    if (resumption !== null && isKnown(resumption, columns, chosen, row, name)) found.loaded_before += 1;
    else if (cell === null) found.without_document += 1;
    else await documents.add(name, bytesOf(cell), Object.fromEntries(values));
  }
  await documents.end();
  tell(session, rows.label, columns[chosen.document]!.name, found, performance.now() - begun);
  const { column } = request.after ?? { column: '' };
  const mark = resumption === null ? null : (resumption.mark ?? resumption.from);
  soFar.from = { ...found, ...(mark === null ? {} : { after: { column, mark } }) };
  if (mark !== null) session.log(`--after ${column} continues after ${mark}`);
  const extraColumns = [...request.extraColumns, ...chosen.carried.map((at) => extraOf(columns[at]!))];
  const carrying = settledSession(session, { ...request, extraColumns });
  const adds = request.saveMode !== 'overwrite' && request.saveMode !== 'write-schema';
  return {
    session: resumption === null ? carrying : resumption.held(carrying),
    paths: documents.paths,
    isDone: documents.paths.length === 0 && adds && request.saveMode !== 'print-schema',
    settle: async () => resumption?.settle(),
  };
}

function orderOf(columns: readonly QueryColumn[], { after }: ChosenColumns, resumption: Resumption | null) {
  return after === null ? null : { column: columns[after]!.name, from: resumption!.from };
}

/** Takes note of a row that is not. AppError `unprocessable_input` for one without a value in the column of `--after`. */
function isKnown(
  resumption: Resumption,
  columns: readonly QueryColumn[],
  { document, after }: ChosenColumns,
  row: readonly QueryCell[],
  name: string,
): boolean {
  const value = row[after!]!;
  if (typeof value !== 'string') throw withoutValue(columns[after!]!.name, name);
  const digest = rowDigest(name, row[document]!);
  if (resumption.wasLoaded(value, digest)) return true;
  resumption.met(value, digest);
  return false;
}

function tell(
  session: ToolSession,
  label: string,
  column: string,
  {
    rows,
    without_document: empty,
    loaded_before: known,
  }: { rows: number; without_document: number; loaded_before: number },
  ms: number,
): void {
  const parts = [
    counted(rows, 'row'),
    ...(empty > 0 ? [`${empty} of them without a document (${column} is NULL)`] : []),
    ...(known > 0 ? [`${known} of them loaded before`] : []),
    `read in ${(ms / 1000).toFixed(1)} s`,
  ];
  session.log(`${label}: ${parts.join(', ')}`);
}

// Documents of rows on this machine: tar archives, which every reader of inputs knows, each small enough to be a unit of work.

/** limits of one archive */
const maxDocuments = 1000;
const maxBytes = 16 * 1024 * 1024;

interface OpenArchive {
  readonly pack: Pack;
  readonly written: Promise<void>;
  documents: number;
  bytes: number;
}

export class DocumentSpool {
  /** paths of the archives, in the order of the rows */
  readonly paths: string[] = [];
  readonly #folder: string;
  #open: OpenArchive | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** AppError `service_unavailable` if the disk is full. */
  async add(name: string, bytes: Uint8Array, carried: CarriedValues): Promise<void> {
    const open = (this.#open ??= await this.#begin());
    await this.#whileWritten(
      open,
      new Promise((resolve, reject) => {
        const entry = open.pack.entry(
          {
            name,
            size: bytes.length,
            mtime: new Date(0),
            pax: { path: name, [carriedRecord]: JSON.stringify(carried) },
          },
          (error) => (error == null ? resolve(undefined) : reject(error as Error)),
        );
        entry.end(bytes);
      }),
    );
    open.documents += 1;
    open.bytes += bytes.length;
    if (open.documents >= maxDocuments || open.bytes >= maxBytes) await this.end();
  }

  /** All that was added is on the disk. */
  async end(): Promise<void> {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    open.pack.finalize();
    await this.#whileWritten(open, open.written);
  }

  async #begin(): Promise<OpenArchive> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `rows-${String(this.paths.length + 1).padStart(6, '0')}.tar`);
    this.paths.push(path);
    const archive = pack();
    const written = pipeline(archive, createWriteStream(path, { mode: 0o600 }));
    // the fault is handled by the caller that adds or ends
    written.catch(() => undefined);
    return { pack: archive, written, documents: 0, bytes: 0 };
  }

  /** Runs `work` until it ends or writing the archive fails. */
  async #whileWritten(open: OpenArchive, work: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([work, open.written.then(() => work)]);
    } catch (error) {
      throw fileFault(error, this.#folder);
    }
  }
}

// Opens the rows of `--from`; the code that reads them is loaded when it is used.

/** AppErrors of the place, and of hosts and paths that a job may not use. */
export async function openRows(session: ToolSession): Promise<QueryRows> {
  const { request, home } = session;
  const source = rowSourceOf(request.from!);
  if ('fault' in source) throw new AppError('invalid_option', `--from: ${source.fault}`);
  const query = request.query ?? '';
  switch (source.kind) {
    case 'postgresql':
    case 'mysql':
      return openServerRows(source, query, { config: home.config, ...(await addressesOf(session, source)) });
    case 'sqlite': {
      const { openSqliteQuery } = await import('../../targets/sql/sqlite/query.ts');
      return openSqliteQuery(await fileAt(session, source.file), source.file, query);
    }
    case 'duckdb': {
      const { openDuckDbQuery } = await import('../../targets/sql/duckdb/query.ts');
      const options = { label: source.file, spill: await spillFolder(session) };
      return openDuckDbQuery(await fileAt(session, source.file), query, options);
    }
    case 'file': {
      const { openRowFile } = await import('../../targets/sql/duckdb/query.ts');
      const [path, ...more] = await inputPaths(session, [source.path], 'from');
      if (path === undefined || more.length > 0)
        throw new AppError(
          'invalid_option',
          `--from ${source.path}: matches ${more.length + 1} files, but only one is allowed`,
        );
      const options = { label: source.path, spill: await spillFolder(session) };
      return openRowFile(resolve(path), source.format, options);
    }
  }
}

/** Returns the checked addresses of a server; none for a person's own run, which the operator's list does not restrict. */
async function addressesOf(
  { byHand, home }: ToolSession,
  { host, port }: RowServer,
): Promise<{ readonly addresses?: readonly string[] }> {
  if (byHand) return {};
  const guard = createOutgoingGuard(home.config.allowedHosts, createHostResolver());
  return { addresses: (await guard.check(host, port)).addresses };
}

/** AppError `input_not_found` if there is none. */
async function fileAt(session: ToolSession, file: string): Promise<string> {
  const path = session.byHand ? resolve(file) : await session.resolvePath(file, true);
  return (await localCopies(session, [path], 'from'))[0]!;
}

async function spillFolder(session: ToolSession): Promise<string> {
  const folder = localFolder(session, 'from-spill');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

// Converts cells of rows to values of columns, and to names and bytes of documents.

/** Returns the value in the lexical form of XSD, which columns accept; bytes are base64. */
export function valueOf(type: ColumnType['kind'], cell: QueryCell): string | null {
  if (cell === null) return null;
  if (typeof cell !== 'string') return Buffer.from(cell).toString('base64');
  switch (type) {
    case 'timestamp':
      return cell.replace(' ', 'T');
    case 'timestamptz':
      return `${cell.replace(' ', 'T').replace(/(?:Z|[+]00(?::?00)?)$/, '')}Z`;
    case 'real':
    case 'double':
      return /nan/i.test(cell) ? 'NaN' : cell.replace(/inf(?:inity)?/i, 'INF');
    default:
      return cell;
  }
}

/** bytes of a name, the ending aside: as much as a file's name may have, and room for a document's number */
const longestName = 200;

/**
 * Returns a file name that distinguishes the row from others: `id=17,received_at=2026-11-25T08:00:00Z.xml`. Columns without a value are
 * left out; if none is left, the name is the row's number.
 */
export function nameOf(
  values: readonly (readonly [column: string, value: string | null])[],
  row: number,
): string {
  const parts = values.flatMap(([column, value]) =>
    value === null ? [] : [`${plain(column).replace(/^\./, '%2E').replaceAll(':', '%3A')}=${plain(value)}`],
  );
  return `${parts.length === 0 ? `row-${row}` : shortened(parts.join(','))}.xml`;
}

/** Replaces characters that paths, archives or messages interpret specially. */
function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}%/\\#]/gu, (character) => encodeURIComponent(character));
}

/** Shortens a name; a hash distinguishes names that differ only in the part that was cut off. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  const kept = Buffer.from(name)
    .subarray(0, longestName - hash.length - 1)
    .toString();
  // a character that was cut in two
  return `${kept.replace(/\uFFFD+$/, '')}~${hash}`;
}

/**
 * Returns the bytes of a document. Text has no encoding, whatever it declares (XML 1.0, 4.3.3: external information takes precedence):
 * it is written as UTF-8, and the declaration is blanked, so that lines and columns stay. Bytes have the encoding that the document
 * declares.
 */
export function bytesOf(cell: string | Uint8Array): Uint8Array {
  if (typeof cell !== 'string') return cell;
  const declaration = /^\uFEFF?<\?xml\s[^>]*?\?>/.exec(cell)?.[0] ?? '';
  const blanked = declaration.replace(/\sencoding\s*=\s*(?:"[^"]*"|'[^']*')/, (found) =>
    ' '.repeat(found.length),
  );
  return Buffer.from(blanked + cell.slice(declaration.length));
}

/** The error for a row without a value in the column of `--after`. */
export function withoutValue(column: string, name: string): AppError {
  return new AppError(
    'unprocessable_input',
    `--after ${column}: the row ${name} has no value in it: exclude such rows in the query, or name another column`,
  );
}
