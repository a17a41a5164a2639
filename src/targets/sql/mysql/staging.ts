/**
 * Tables of a job that are invisible as data: rows are loaded into them by `LOAD DATA LOCAL`, some megabytes at a time. Under the lock of
 * the target, which is held from open to publish, all existing tables with such names belong to jobs that are dead.
 */
import { createHash } from 'node:crypto';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { ownPrefix } from '../../../engine/model/side-tables.ts';
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { mysql, convertedText } from '../../../engine/sql/dialects/mysql.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { AppError } from '../../../errors.ts';
import type { Mysql, MysqlAddress, MysqlWarning } from './connection.ts';
import { tableStatement, anyText, columnSqlType, isText, textOf, turnToText } from './tables.ts';

export const stagingPrefix = `${ownPrefix}staging_`;

const bufferedBytes = 16 * 1024 * 1024;

export interface MysqlStagedColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly isValue: boolean;
  /** the next column has the offset with which its times are written */
  readonly hasOffsetBehind: boolean;
  /** the type that the column needs for a value that its own cannot hold; null: its own */
  wider: ColumnType | null;
  /** the column lost its NOT NULL */
  isLoose: boolean;
}

export class MysqlStagedTable {
  readonly name: string;
  readonly physical: PhysicalTable;
  readonly columns: readonly MysqlStagedColumn[];
  rows = 0;
  pieces: { rows: Uint8Array; release: (() => void) | null }[] = [];
  bytes = 0;
  isMade = false;
  /** by column: changes of the table that are still to be made */
  readonly pending = new Set<() => Promise<void>>();

  constructor(
    name: string,
    physical: PhysicalTable,
    types: readonly Pick<MysqlStagedColumn, 'type' | 'isValue' | 'hasOffsetBehind'>[],
  ) {
    this.name = name;
    this.physical = physical;
    this.columns = types.map((column, at) => ({
      name: physical.columns[at]!.name,
      ...column,
      wider: null,
      isLoose: false,
    }));
  }

  sqlType(at: number): string {
    const { wider, type } = this.columns[at]!;
    return columnSqlType(wider ?? type);
  }

  /** Returns whether the column was converted to text by this job. */
  isTurned(at: number): boolean {
    return this.columns[at]!.wider?.kind === 'text';
  }

  /**
   * Returns, quoted, the column with the offset with which times of this column are written, or null if there is none. `isPresent`: says
   * whether a column of that name exists.
   */
  offsetOf(at: number, isPresent: (name: string) => boolean = () => true): string | null {
    if (!this.columns[at]!.hasOffsetBehind) return null;
    const { name } = this.columns[at + 1]!;
    return isPresent(name) ? mysql.quote(name) : null;
  }

  /** Returns whether the column may be NULL: a column converted to text loses its NOT NULL. */
  isNullable(at: number): boolean {
    return this.columns[at]!.isLoose || this.isTurned(at);
  }

  /** Returns the table with the types that the values need. */
  get needed(): PhysicalTable {
    return {
      ...this.physical,
      columns: this.physical.columns.map((column, at) => {
        const { wider } = this.columns[at]!;
        return wider === null ? column : { ...column, sqlType: mysql.typeName(wider) };
      }),
    };
  }
}

export class Staging {
  readonly #database: Mysql;
  readonly #label: string;
  readonly #skipsDoubles: boolean;
  readonly #tables = new Set<MysqlStagedTable>();
  #bytes = 0;
  #work: Promise<void> = Promise.resolve();

  /** `skipsDoubles`: keys depend on the content of documents, so a row that comes again is the same row. */
  constructor(database: Mysql, label: string, skipsDoubles: boolean) {
    this.#database = database;
    this.#label = label;
    this.#skipsDoubles = skipsDoubles;
  }

  async write(
    table: MysqlStagedTable,
    rows: Uint8Array,
    count: number,
    release: (() => void) | null,
  ): Promise<void> {
    this.add(table, rows, count, release);
    if (this.#bytes < bufferedBytes) return;
    // one batch is being sent while the next one is collected
    const before = this.#work;
    const largest = [...this.#tables].reduce((one, other) => (other.bytes > one.bytes ? other : one));
    this.#enqueue(largest);
    await before;
  }

  add(table: MysqlStagedTable, rows: Uint8Array, count: number, release: (() => void) | null): void {
    table.pieces.push({ rows, release });
    table.bytes += rows.length;
    table.rows += count;
    this.#bytes += rows.length;
    this.#tables.add(table);
  }

  /** Loads all rows written so far into the tables. */
  async drain(): Promise<void> {
    for (const table of this.#tables) this.#enqueue(table);
    await this.#work;
  }

  loosen(table: MysqlStagedTable, at: number): void {
    const column = table.columns[at]!;
    if (column.isLoose) return;
    column.isLoose = true;
    if (table.isMade) table.pending.add(() => this.#modify(table, at));
  }

  widen(table: MysqlStagedTable, at: number, to: ColumnType): void {
    const column = table.columns[at]!;
    const before = table.sqlType(at);
    if (column.wider !== null && columnSqlType(to) === before) return;
    column.wider = to;
    if (!table.isMade) return;
    if (to.kind !== 'text') {
      table.pending.add(() => this.#modify(table, at));
      return;
    }
    const value = textOf(mysql.quote(column.name), before, column.type, table.offsetOf(at));
    const { comment } = table.physical.columns[at]!;
    table.pending.add(() =>
      turnToText(
        this.#database,
        table.name,
        { name: column.name, comment: commentLine(comment, 1000) },
        value,
      ),
    );
  }

  async make(table: MysqlStagedTable): Promise<void> {
    if (table.isMade) return;
    await this.#database.run(tableStatement(table.needed, table.name, (at) => table.isNullable(at)));
    table.isMade = true;
  }

  #enqueue(table: MysqlStagedTable): void {
    const { pieces } = table;
    this.#bytes -= table.bytes;
    table.pieces = [];
    table.bytes = 0;
    if (pieces.length === 0) return;
    this.#work = this.#work.then(async () => {
      await this.#load(
        table,
        pieces.map(({ rows }) => rows),
      );
      for (const { release } of pieces) release?.();
    });
    // the promise that the caller awaits rejects
    this.#work.catch(() => undefined);
  }

  async #load(table: MysqlStagedTable, pieces: readonly Uint8Array[]): Promise<void> {
    for (;;) {
      await this.make(table);
      for (const change of table.pending) {
        table.pending.delete(change);
        await change();
      }
      await this.#database.run('START TRANSACTION');
      const warnings = await this.#database.load(loadStatement(table), pieces);
      const told = warnings.filter(({ code }) => !(this.#skipsDoubles && code === duplicateKey));
      if (told.length === 0) {
        await this.#database.run('COMMIT');
        return;
      }
      await this.#database.run('ROLLBACK');
      const refused = refusedColumns(table, told, pieces);
      if (refused.length === 0)
        throw new AppError(
          'unprocessable_input',
          `${this.#label}: ${table.physical.name}: ${told[0]!.message.slice(0, 500)}`,
        );
      for (const at of refused) this.widen(table, at, { kind: 'text' });
    }
  }

  /**
   * Gives a column the type and nullability that it has at this point; a column that is converted to text gets them during the conversion.
   */
  async #modify(table: MysqlStagedTable, at: number): Promise<void> {
    if (table.isTurned(at)) return;
    const { name, sqlType, nullable, comment: told } = table.needed.columns[at]!;
    const keptNull = nullable || table.isNullable(at) ? 'NULL' : 'NOT NULL';
    const comment = mysql.literal(commentLine(told, 1000));
    await this.#database.run(
      `ALTER TABLE ${mysql.quote(table.name)} MODIFY ${mysql.quote(name)} ${sqlType} ${keptNull} COMMENT ${comment}`,
    );
  }
}

const duplicateKey = 1062;

function loadStatement(table: MysqlStagedTable): string {
  const targets: string[] = [];
  const sets: string[] = [];
  for (const [at, { name, type }] of table.columns.entries()) {
    const variable = `@v${at + 1}`;
    const value = table.isTurned(at) ? widenedText(type, variable) : convertedText(type, variable);
    const quoted = mysql.quote(name);
    targets.push(value === variable ? quoted : variable);
    if (value !== variable) sets.push(`${quoted} = ${value}`);
  }
  const set = sets.length === 0 ? '' : ` SET ${sets.join(', ')}`;
  // the server splits bytes faster than characters, and still reads them as characters of the columns; functions need characters
  const characters = sets.length === 0 ? 'binary' : 'utf8mb4';
  return String.raw`LOAD DATA LOCAL INFILE 'rows' INTO TABLE ${mysql.quote(table.name)} CHARACTER SET ${characters} FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' (${targets.join(', ')})${set}`;
}

/** Converts a value of the staged rows to the form of XML Schema. */
function widenedText({ kind }: ColumnType, value: string): string {
  if (kind === 'boolean') return `CASE ${value} WHEN 't' THEN 'true' WHEN 'f' THEN 'false' ELSE ${value} END`;
  if (kind === 'double' || kind === 'real')
    return `CASE ${value} WHEN 'Infinity' THEN 'INF' WHEN '-Infinity' THEN '-INF' ELSE ${value} END`;
  return value;
}

/** Returns columns of values, not of keys, that have a value their type does not hold. */
function refusedColumns(
  table: MysqlStagedTable,
  warnings: readonly MysqlWarning[],
  pieces: readonly Uint8Array[],
): number[] {
  const named = new Set(
    warnings.map(
      ({ message }) =>
        /column (?:[`'][^`']*[`']\.[`'][^`']*[`']\.)?[`']([^`']*)[`'] at row/.exec(message)?.[1],
    ),
  );
  const can = (at: number): boolean => {
    const column = table.columns[at]!;
    return column.isValue && !table.isTurned(at) && table.sqlType(at) !== anyText;
  };
  const columns = [...table.columns.keys()].filter(can);
  const told = columns.filter((at) => named.has(table.columns[at]!.name));
  return told.length > 0
    ? told
    : columns.filter((at) => isMoment(table.sqlType(at)) && hasOtherYears(pieces, at));
}

function isMoment(sqlType: string): boolean {
  return !isText(sqlType) && /^(date|time)/.test(sqlType);
}

/** Tests for other years: MySQL has the years 1 to 9999, and does not report the column of a computed value. */
function hasOtherYears(pieces: readonly Uint8Array[], at: number): boolean {
  return pieces.some((piece) =>
    Buffer.from(piece.buffer, piece.byteOffset, piece.length)
      .toString('utf8')
      .split('\n')
      .some((line) => {
        const cell = line.split('\t')[at];
        return (
          cell !== undefined && cell !== '\\N' && (!/^(?!0000)\d{4}-|^\d{2}:/.test(cell) || leavesYears(cell))
        );
      }),
  );
}

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const endMs = Date.parse('+010000-01-01T00:00:00Z');

/** Returns whether a date with a time of the years 1 to 9999 is in another year in UTC, or because its hour is 24. */
function leavesYears(cell: string): boolean {
  if (!/^(?:0001-01-01T|9999-12-31T)/.test(cell)) return false;
  const zone = /(?:Z|[+-]\d\d:\d\d)$/.exec(cell.slice(19))?.[0] ?? 'Z';
  const ms = Date.parse(cell.slice(0, 19) + zone);
  return ms < firstMs || ms >= endMs;
}

const lockSeconds = 15 * 60;

/** Locks the target for one job at a time; the server releases the lock when the connection ends. */
export async function takeTargetLock(
  database: Mysql,
  { database: name, label }: Pick<MysqlAddress, 'database' | 'label'>,
): Promise<void> {
  const digest = createHash('sha256').update(name.toLowerCase()).digest('hex').slice(0, 32);
  const [[held]] = (await database.rows(`SELECT GET_LOCK('svc_load_${digest}', ${lockSeconds})`)) as [
    [string | null],
  ];
  if (held === '1') return;
  throw new AppError(
    'service_unavailable',
    `${label}: another job has been loading for ${lockSeconds / 60} minutes; run this job again when that one has ended.`,
  );
}

export interface MysqlListTarget {
  /** the column of the list in the rows */
  readonly column: number;
  /** keys of rows that are still to come and have text instead, because one item is not a value of the type */
  readonly asText: Set<string>;
  /** loads rows of the list's own table */
  add(rows: Uint8Array, count: number): void;
  /** computes the key of an item */
  key(parent: string, position: number): bigint;
}

/** Returns the rows with counts instead of lists. */
export function withoutLists(rows: Uint8Array, lists: readonly MysqlListTarget[]): Uint8Array {
  const lines = Buffer.from(rows.buffer, rows.byteOffset, rows.length).toString('utf8').split('\n');
  lines.pop();
  const items = lists.map((): string[] => []);
  const owners = lines.map((line) => {
    const cells = line.split('\t');
    for (const [at, { column, key, asText }] of lists.entries()) {
      const values = asText.delete(cells[0]!) ? wordsOf(cells[column]!) : itemsOf(cells[column]!);
      cells[column] = values === null ? '\\N' : String(values.length);
      for (const [position, item] of (values ?? []).entries())
        items[at]!.push(`${key(cells[0]!, position + 1)}\t${cells[0]!}\t${position + 1}\t${escaped(item)}\n`);
    }
    return `${cells.join('\t')}\n`;
  });
  for (const [at, list] of lists.entries())
    if (items[at]!.length > 0) list.add(Buffer.from(items[at]!.join('')), items[at]!.length);
  return Buffer.from(owners.join(''));
}

/** Computes the key of an item from the list's row and the item's position. */
export function hashedKey(table: string, parent: string, position: number): bigint {
  const digest = createHash('sha256').update(`${table}\n${parent}\n${position}`).digest();
  return digest.readBigUInt64BE() >> 1n;
}

const letters: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r' };

/** Parses the items of an array literal, `{1,2}` or `{"a b","c"}`, in a cell of COPY text; null for NULL. */
export function itemsOf(cell: string): string[] | null {
  if (cell === '\\N') return null;
  const literal = unescaped(cell);
  const items: string[] = [];
  for (const match of literal.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs))
    items.push(match[1] === undefined ? match[2]! : match[1].replaceAll(/\\(.)/gs, '$1'));
  return items;
}

/** Returns the items of a list in the form of documents. */
function wordsOf(cell: string): string[] {
  return unescaped(cell)
    .split(/[ \t\r\n]+/)
    .filter((word) => word !== '');
}

function unescaped(cell: string): string {
  return cell.replaceAll(/\\(.)/gs, (_, letter: string) => letters[letter] ?? letter);
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return text.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character]!);
}
