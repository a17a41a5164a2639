/** Reads rows from the tables of a SQLite file: in one read transaction, in which several statements step through their rows at once. */
import type { StatementSync } from 'node:sqlite';
import type { RowBlock } from '../../../engine/unshred/rows/document-rows.ts';
import { textBlock, type TextRow } from '../../../engine/unshred/rows/values.ts';
import { fieldRows, type FieldPlan } from '../../rows/field-blocks.ts';
import {
  type ClosableBlocks,
  createTableRowSource,
  type ReadTable,
  type ReadTables,
  type RowQuery,
} from '../../rows/table-row-source.ts';
import { isTooLong, type SqliteDb, foldedName, openSqlite, sqliteFault } from './database.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { fractionDigits, physicalName } from '../../../engine/sql/physical-model.ts';
import { withListTables } from '../../../engine/sql/list-tables.ts';
import type { ColumnType, RelationalModel } from '../../../engine/model/relational-model.ts';
import {
  mergeColumns,
  sideTableDefinitions,
  sideTableNames,
  type SideColumn,
  type SideTableDefinition,
} from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource } from '../../../ports/row-source.ts';
import { refusePreRelease } from '../../rows/pre-release.ts';
import { readFileLoads } from '../database-files.ts';
import { sqliteDriver } from './driver.ts';
import { readTables, type SqliteTable as FoundTable, lexicalText } from './tables.ts';

// Reads rows in the order of their key, a page of many rows as one value: reading a value from SQLite costs as much as making the text of a
// whole row there.

/** The part of a table that is read. */
interface PagedRows {
  /** the text after FROM */
  readonly from: string;
  /** the text after that: empty, or WHERE and conditions, to which AND can add one */
  readonly rest: string;
  /** an integer column, unique and never NULL, by which SQLite finds rows without sorting */
  readonly key: string;
  /** expressions of text, in the order of the plan's fields; one at least */
  readonly texts: readonly string[];
  readonly plan: FieldPlan;
}

interface Page {
  readonly rows: number;
  readonly last: bigint;
  readonly block: RowBlock;
}

const [fewestRows, maxRows] = [32, 1024];
/** the usual size of a page, and the largest size of a page of several rows */
const [pageBytes, maxPageBytes] = [192 * 1024, 1024 * 1024];
/** the most arguments of a function: SQLite allows 1,000 */
const maxArguments = 500;

export function pagedBlocks(database: SqliteDb, rows: PagedRows): ClosableBlocks {
  return new RowPages(database, rows);
}

class RowPages implements ClosableBlocks {
  readonly #database: SqliteDb;
  readonly #rows: PagedRows;
  /** the statement for the first page (key `true`), and the one for the others */
  readonly #statements = new Map<boolean, StatementSync>();
  #last: bigint | null = null;
  #wanted = fewestRows;
  #isOpen = true;

  constructor(database: SqliteDb, rows: PagedRows) {
    this.#database = database;
    this.#rows = rows;
  }

  async next(): Promise<RowBlock | null> {
    if (!this.#isOpen) return null;
    const wanted = this.#wanted;
    const page = this.#page(wanted);
    if (page === null) {
      this.#isOpen = false;
      return null;
    }
    this.#last = page.last;
    const fitting = Math.floor((page.rows * pageBytes) / Math.max(1, page.block.bytes.length));
    // rows that were too long together are read apart until pages are small again
    this.#wanted = Math.max(1, Math.min(fitting, this.#wanted * 4, maxRows));
    return page.block;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  /** Returns fewer rows than `wanted` if more are too long. */
  #page(wanted: number): Page | null {
    for (let rows = wanted; rows > 1; rows = Math.max(1, rows >> 3))
      try {
        return this.#database.withLongest(maxPageBytes, () => this.#read(rows));
      } catch (error) {
        if (!isTooLong(error)) throw error;
      }
    return this.#read(1);
  }

  #read(wanted: number): Page | null {
    const [bytes, last, rows] = this.#statement().get(
      ...(this.#last === null ? [wanted] : [wanted, this.#last]),
    ) as unknown as [bytes: Uint8Array | null, last: bigint | null, rows: bigint];
    if (bytes === null || last === null) return null;
    const block = fieldRows(bytes, Number(rows), this.#rows.plan);
    return { rows: Number(rows), last, block: block ?? this.#asValues(wanted) };
  }

  #statement(): StatementSync {
    const isFirst = this.#last === null;
    let statement = this.#statements.get(isFirst);
    if (statement === undefined) {
      const { key, texts } = this.#rows;
      const row = joined(texts.map((text) => `coalesce(${text}, char(30))`));
      statement = this.#database.prepareChange(
        `SELECT CAST(group_concat(t, char(31)) AS BLOB), max(k), count(*) FROM (SELECT ${key} AS k, ${row} AS t ${this.#tail()})`,
      );
      statement.setReturnArrays(true);
      this.#statements.set(isFirst, statement);
    }
    return statement;
  }

  /** Returns the statement from FROM on; ?1: the number of rows, ?2: the key after which they begin. */
  #tail(): string {
    const { from, rest, key } = this.#rows;
    const behind = this.#last === null ? '' : `${rest === '' ? ' WHERE' : ' AND'} ${key} > ?2`;
    return `FROM ${from}${rest}${behind} ORDER BY ${key} LIMIT ?1`;
  }

  /** Reads each value separately, for rows in which a value contains the separator of values, which no loaded document has. */
  #asValues(wanted: number): RowBlock {
    const { texts, plan } = this.#rows;
    const statement = this.#database.prepare(`SELECT ${texts.join(', ')} ${this.#tail()}`);
    statement.setReturnArrays(true);
    const found = statement.all(...(this.#last === null ? [wanted] : [wanted, this.#last])) as unknown as (
      | string
      | null
    )[][];
    const rows = found.map((values) => {
      const row: (string | null)[] = Array(plan.width).fill(null);
      for (const [field, column] of plan.columns.entries()) row[column] = values[field]!;
      return row;
    });
    return textBlock(rows, plan.width);
  }
}

/** Joins texts, none of them NULL, to one. */
function joined(texts: readonly string[]): string {
  if (texts.length <= maxArguments) return `concat_ws(char(31), ${texts.join(', ')})`;
  return joined([joined(texts.slice(0, maxArguments)), ...texts.slice(maxArguments)]);
}

// The source.

export interface SqliteRowSourceOptions {
  readonly file: string;
  /** how long to wait for another program that has the file locked (30 seconds) */
  readonly busyTimeoutMs?: number;
}

export function createSqliteRowSource(options: SqliteRowSourceOptions): RowSource {
  const { file, busyTimeoutMs } = options;
  const label = `sqlite:${file}`;
  return createTableRowSource({
    label,
    loads: () => readFileLoads(sqliteDriver, file, { label, busyTimeoutMs }),
    openTables: (model) => openTables(options, label, model),
    faultOf: (error) =>
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? new AppError('not_found', `${label}: there is no such file.`)
        : sqliteFault(error, label),
  });
}

interface SqliteTable extends ReadTable {
  /** expressions of text, by the model's names of the existing columns */
  readonly texts: ReadonlyMap<string, string>;
  /** the integer column by which SQLite finds rows; null: there is none */
  readonly rowNumber: string | null;
}

async function openTables(
  { file, busyTimeoutMs }: SqliteRowSourceOptions,
  label: string,
  model: RelationalModel,
): Promise<ReadTables<SqliteTable>> {
  const database = await openSqlite(file, { label, busyTimeoutMs, readOnly: true });
  try {
    await database.run('BEGIN');
    return new SqliteTables(database, model, label);
  } catch (error) {
    database.close();
    throw error;
  }
}

function sideColumnsOf({ name, columns }: SideTableDefinition): readonly SideColumn[] {
  return name === sideTableNames.documents ? [...columns, ...mergeColumns] : columns;
}

class SqliteTables implements ReadTables<SqliteTable> {
  readonly #database: SqliteDb;
  readonly #model: RelationalModel;
  readonly #drawn: ReturnType<typeof withListTables>;
  readonly #known: ReadonlyMap<string, FoundTable>;
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #modelHashes: ReadonlyMap<string, string | null>;
  readonly #tables = new Map<string, SqliteTable | null>();
  /** whether texts of the file are UTF-8; a file of another program may have UTF-16 */
  readonly #isUtf8: boolean;

  constructor(database: SqliteDb, model: RelationalModel, label: string) {
    this.#database = database;
    this.#model = model;
    this.#drawn = withListTables(model, sqlite);
    this.#indexes = new Map(model.tables.map(({ name }, index) => [name, index]));
    this.#known = readTables(database);
    refusePreRelease(label, (name) => this.#known.get(name)?.columns);
    this.#isUtf8 = database.read<{ encoding: string }>('PRAGMA encoding')[0]!.encoding === 'UTF-8';
    this.#modelHashes = new Map(this.#jobs().map((job) => [job.job_uuid, job.model_sha256]));
  }

  #jobs(): { job_uuid: string; model_sha256: string | null }[] {
    if (!this.#known.has(sideTableNames.loads)) return [];
    return this.#database.read(`SELECT job_uuid, model_sha256 FROM ${doubleQuoted(sideTableNames.loads)}`);
  }

  table(name: string): SqliteTable | null {
    let table = this.#tables.get(name);
    if (table === undefined) {
      const known = this.#known.get(foldedName(physicalName(sqlite, name)));
      table = known === undefined || known.isView ? null : this.#sourceTable(name, known);
      this.#tables.set(name, table);
    }
    return table;
  }

  #sourceTable(name: string, known: FoundTable): SqliteTable {
    const own = (wanted: string) => known.columns.get(foldedName(physicalName(sqlite, wanted)));
    const index = this.#indexes.get(name);
    const side = Object.values(sideTableDefinitions).find((one) => one.name === name);
    const modelled: readonly { readonly name: string; readonly type: ColumnType }[] =
      index === undefined ? sideColumnsOf(side!) : this.#model.tables[index]!.columns;
    const key =
      index === undefined
        ? undefined
        : own(this.#model.tables[index]!.columns.find(({ role }) => role === 'row_key')?.name ?? '');
    const rowKey = key === undefined ? null : `${doubleQuoted(known.name)}.${doubleQuoted(key.name)}`;
    const texts = new Map<string, string>();
    for (const [at, column] of modelled.entries()) {
      const there = own(column.name);
      const list =
        index === undefined
          ? undefined
          : this.#drawn.lists.find((one) => one.owner === index && one.column === at);
      // a column with the name of a list that has a table belongs to another version, which has a value there
      const items = list === undefined ? null : this.#items(index!, at, list.table!, own, rowKey);
      if (there === undefined && items === null) continue;
      texts.set(column.name, items ?? textOf(doubleQuoted(there!.name), there!.type, column.type));
    }
    const keys = [...known.columns.values()].filter(({ keyPlace }) => keyPlace > 0);
    return {
      from: doubleQuoted(known.name),
      whole: (column) => {
        const found = own(column);
        return found === undefined ? null : doubleQuoted(found.name);
      },
      holds: (column, text) => `${doubleQuoted(own(column)!.name)} = ${standardLiteral(text)}`,
      texts,
      rowNumber:
        keys.length === 1 && keys[0]!.type.toUpperCase() === 'INTEGER' ? doubleQuoted(keys[0]!.name) : null,
    };
  }

  /**
   * Returns an expression for a list, whose count is in the row and whose items are in a table of their own; null if there is no such
   * column.
   */
  #items(
    owner: number,
    at: number,
    table: number,
    own: (name: string) => { readonly name: string } | undefined,
    rowKey: string | null,
  ): string | null {
    const count = own(this.#drawn.model.tables[owner]!.columns[at]!.name);
    if (count === undefined) return null;
    const { name, columns } = this.#drawn.model.tables[table]!;
    const known = this.#known.get(foldedName(physicalName(sqlite, name)));
    const [, parent, position, item] = columns.map((one) =>
      known?.columns.get(foldedName(physicalName(sqlite, one.name))),
    );
    const items =
      known === undefined || rowKey === null
        ? `''`
        : `coalesce((SELECT group_concat(${textOf(doubleQuoted(item!.name), item!.type, columns[3]!.type)}, ' ' ORDER BY ${doubleQuoted(position!.name)}) FROM ${doubleQuoted(known.name)} WHERE ${doubleQuoted(parent!.name)} = ${rowKey}), '')`;
    return `CASE WHEN ${doubleQuoted(count.name)} IS NOT NULL THEN ${items} END`;
  }

  async blocks(
    { from, rowNumber, texts }: SqliteTable,
    { rest, order, only = null }: RowQuery,
    columns: readonly string[],
  ): Promise<ClosableBlocks> {
    const fields = columns.flatMap((name, column) => {
      const text = texts.get(name);
      return text === undefined ? [] : [{ text, column }];
    });
    const selection = fields.map(({ text }) => text);
    const plan = {
      columns: fields.map(({ column }) => column),
      decoders: fields.map(() => null),
      width: columns.length,
    };
    if (this.#isUtf8 && rowNumber !== null && order?.by.join() === rowNumber && fields.length > 0) {
      // with an index for the conditions of `rest`, each page would sort all rows after the previous one
      const way = rest === '' || only !== null ? '' : ' NOT INDEXED';
      return pagedBlocks(this.#database, {
        from: `${from}${way}`,
        rest,
        key: rowNumber,
        texts: selection,
        plan,
      });
    }
    const sorting = order === undefined ? '' : ` ORDER BY ${order.by.join(', ')}`;
    const statement = this.#database.prepare(
      `SELECT ${["''", ...selection].join(', ')} FROM ${from}${rest}${sorting}`,
    );
    statement.setReturnArrays(true);
    const places = columns.map((_, column) => plan.columns.indexOf(column) + 1);
    return statementBlocks(statement.iterate() as unknown as Iterator<(string | null)[]>, (values) =>
      places.map((at) => (at === 0 ? null : values[at]!)),
    );
  }

  async modelHashOf(jobUuid: string): Promise<string | null> {
    return this.#modelHashes.get(jobUuid) ?? null;
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

/** Returns the text with the number of digits after the point that the model gives it, however the column was declared. */
function textOf(column: string, declared: string, type: ColumnType): string {
  const digits = fractionDigits(type);
  const isBoolean = type.kind === 'boolean';
  const scale = /^NUMERIC\(\d+,(\d+)\)$/i.exec(declared)?.[1];
  const text = lexicalText(column, declared, isBoolean);
  if (scale === undefined || digits === null || Number(scale) <= digits) return text;
  const added = Number(scale) - digits;
  const shorter = `substr(${text}, 1, length(${text}) - ${added}) || rtrim(substr(${text}, -${added}), '0')`;
  const cut = digits === 0 ? `rtrim(${shorter}, '.')` : `(${shorter})`;
  return `CASE WHEN typeof(${column}) IN ('integer', 'real') THEN ${cut} ELSE ${text} END`;
}

const blockRows = 512;
const blockCharacters = 256 * 1024;

/** Returns rows of a statement one block at a time, on request. */
function statementBlocks(
  rows: Iterator<(string | null)[]>,
  toRow: (values: (string | null)[]) => TextRow,
): ClosableBlocks {
  let isOpen = true;
  return {
    async next() {
      const block: TextRow[] = [];
      for (let characters = 0; isOpen && block.length < blockRows && characters < blockCharacters;) {
        const next = rows.next();
        if (next.done === true) isOpen = false;
        else {
          const row = toRow(next.value);
          for (const value of row) characters += value?.length ?? 0;
          block.push(row);
        }
      }
      return block.length === 0 ? null : textBlock(block, block[0]!.length);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      rows.return?.();
    },
  };
}
