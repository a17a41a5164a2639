/**
 * Reads rows from MySQL or MariaDB, to write documents back: over one connection, whose transaction sees one moment, and in pages of rows
 * by their keys, so that memory holds only one page of each table.
 */
import type { ColumnType, RelationalModel } from '../../../engine/model/relational-model.ts';
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import { versionCondition, type DocumentVersions } from '../../../engine/sql/loaded-documents.ts';
import { mysql, doubleForReal } from '../../../engine/sql/dialects/mysql.ts';
import { fractionDigits, physicalTables, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { withListTables, type ListTable } from '../../../engine/sql/list-tables.ts';
import type {
  DocumentRows,
  LexicalRow,
  RowBlock,
  RowBlocks,
  RowStream,
  UnmappedRow,
} from '../../../engine/unshred/rows/document-rows.ts';
import { decodedRows, textBlock, type TextRow } from '../../../engine/unshred/rows/values.ts';
import { AppError } from '../../../errors.ts';
import type { RowSource, StoredDocument } from '../../../ports/row-source.ts';
import type { TargetLoad } from '../../../ports/row-sink.ts';
import { mysqlFault, openMysql, type Mysql, type MysqlAddress } from './connection.ts';
import { refusePreRelease } from '../../rows/pre-release.ts';
import { targetLoads } from '../ledger.ts';
import { foldedName, holdsInstants, readTables, isText, textOf } from './tables.ts';
import { checkKeys, knowsMerges, type FoundColumn, type FoundTables } from '../found-tables.ts';
import { mysqlDriver } from './driver.ts';

const pageRows = 2000;
const { quote } = mysql;

export interface MysqlRowSourceOptions extends MysqlAddress {}

export function createMysqlRowSource(options: MysqlRowSourceOptions): RowSource {
  return new MysqlRowSource(options);
}

class MysqlRowSource implements RowSource {
  readonly label: string;
  readonly #options: MysqlRowSourceOptions;
  #database: Mysql | null = null;
  #model!: RelationalModel;
  #drawn!: RelationalModel;
  #tables: readonly PhysicalTable[] = [];
  #lists: readonly ListTable[] = [];
  #known: FoundTables = new Map();

  constructor(options: MysqlRowSourceOptions) {
    this.#options = options;
    this.label = options.label;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    return this.#guarded(async () => {
      const database = await this.#connect();
      const known = await readTables(database);
      return targetLoads(database, (name) => known.get(name)?.columns, quote, this.label);
    });
  }

  async open(model: RelationalModel): Promise<void> {
    this.#model = model;
    const doubles = {
      ...model,
      tables: model.tables.map((table) => ({ ...table, columns: table.columns.map(doubleForReal) })),
    };
    const { model: drawn, lists } = withListTables(doubles, mysql);
    this.#drawn = drawn;
    this.#lists = lists;
    this.#tables = physicalTables(drawn, mysql, doubles);
    await this.#guarded(async () => {
      const database = await this.#connect();
      await database.run('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await database.run('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
      this.#known = await readTables(database);
    });
    if (!this.#known.has(sideTableNames.documents))
      throw new AppError('not_found', `${this.label}: no documents were loaded there.`);
    refusePreRelease(this.label, (name) => this.#known.get(name)?.columns);
    checkKeys(mysqlDriver, this.label, this.#known, { model: drawn, tables: this.#tables });
  }

  async documentCount(name?: string, versions?: DocumentVersions): Promise<number> {
    const [[count]] = (await this.#read(
      `SELECT count(*) FROM ${quote(sideTableNames.documents)} d WHERE TRUE${this.#chosen(name, versions)}`,
    )) as [[string]];
    return Number(count);
  }

  /** Further conditions for rows `d` of `_documents`. */
  #chosen(name: string | undefined, versions: DocumentVersions | undefined): string {
    const version = versionCondition(versions, knowsMerges(this.#known), 'd.', (moment) =>
      mysql.literal(moment.replace('T', ' ').replace('Z', '')),
    );
    return [
      ...(name === undefined ? [] : [` AND d.name = ${mysql.literal(name)}`]),
      ...(version === null ? [] : [` AND ${version}`]),
    ].join('');
  }

  async *documents(name?: string, versions?: DocumentVersions): AsyncIterable<StoredDocument> {
    const { documents, loads } = sideTableNames;
    const modelHash = this.#known.has(loads)
      ? `(SELECT l.model_sha256 FROM ${quote(loads)} l WHERE l.job_uuid = d.job_uuid)`
      : 'NULL';
    const of = this.#chosen(name, versions);
    for (let last = '-9223372036854775808'; ;) {
      const rows = await this.#read(
        `SELECT d.document_key, d.name, ${modelHash} FROM ${quote(documents)} d WHERE d.document_key > ${last}${of} ORDER BY d.document_key LIMIT ${pageRows}`,
      );
      for (const [key, called, modelHash] of rows)
        yield { key: key!, name: called!, modelHash: modelHash ?? null };
      if (rows.length < pageRows) return;
      last = rows.at(-1)![0]!;
    }
  }

  rowsOf(documentKey: string): Promise<DocumentRows> {
    return this.#rows(documentKey, '=');
  }

  rowsFrom(documentKey: string | null): Promise<DocumentRows> {
    return this.#rows(documentKey, '>=');
  }

  async #rows(documentKey: string | null, from: '=' | '>='): Promise<DocumentRows> {
    const ofDocument = (column: string): string =>
      documentKey === null ? 'TRUE' : `t.${quote(column)} ${from} ${documentKey}`;
    return {
      table: async (index) => {
        const table = this.#tables[index]!;
        const there = this.#known.get(foldedName(table.name));
        if (there === undefined) return null;
        const { columns } = this.#model.tables[index]!;
        const at = (role: string): string =>
          table.columns[columns.findIndex((column) => column.role === role)]!.name;
        const values = columns.map(({ type }, column) => this.#value(index, column, type));
        return this.#pages({
          from: there.name,
          values,
          where: ofDocument(at('document')),
          by: [at('row_key')],
        });
      },
      lexical: (index) =>
        this.#side(
          sideTableNames.lexical,
          {
            values: ['t.row_key', 't.column_name', 't.content'],
            where: `t.table_name = ${mysql.literal(this.#model.tables[index]!.name)} AND ${ofDocument(fileKeyName)}`,
            by: ['row_key', 'column_name'],
          },
          ([rowKey, columnName, content]): LexicalRow => ({
            rowKey: rowKey!,
            columnName: columnName!,
            content: content ?? '',
          }),
        ),
      unmapped: (index) =>
        this.#side(
          sideTableNames.unmapped,
          {
            values: ['t.parent_key', 't.position', 't.xpath', 't.kind', 't.content'],
            where: `t.parent_table = ${mysql.literal(index === null ? sideTableNames.documents : this.#model.tables[index]!.name)} AND ${ofDocument(fileKeyName)}`,
            by: ['parent_key', 'position'],
          },
          ([parentKey, position, xpath, kind, content]): UnmappedRow => ({
            parentKey: parentKey!,
            position: Number(position),
            xpath: xpath ?? '',
            kind: kind ?? '',
            content: content ?? null,
          }),
        ),
    };
  }

  async #side<Row>(
    name: string,
    page: Omit<Page, 'from'>,
    toRow: (row: TextRow) => Row,
  ): Promise<RowStream<Row> | null> {
    if (!this.#known.has(name)) return null;
    return decodedRows(this.#pages({ ...page, from: name }), page.values.length, toRow);
  }

  #pages(page: Page): RowBlocks {
    return new Pages((sql) => this.#read(sql), page);
  }

  /** Returns an expression for the value in the form of XML Schema, with a space between the items of a list. */
  #value(index: number, column: number, type: ColumnType): string {
    const table = this.#tables[index]!;
    const list = this.#lists.find((each) => each.owner === index && each.column === column);
    const { name } = table.columns[column]!;
    const there = this.#known.get(foldedName(table.name))!.columns.get(foldedName(name));
    if (there === undefined) return 'NULL';
    if (list?.table == null)
      return lexical(`t.${quote(name)}`, there, this.#drawn.tables[index]!.columns[column]!.type);
    const items = this.#tables[list.table]!;
    const known = this.#known.get(foldedName(items.name));
    const [, parent, position, item] = items.columns.map((each) => `i.${quote(each.name)}`);
    const { list: _, ...itemType } = type;
    const existingItem = known?.columns.get(foldedName(items.columns[3]!.name));
    if (known === undefined || existingItem === undefined)
      return `CASE WHEN t.${quote(name)} IS NOT NULL THEN '' END`;
    const key =
      table.columns[this.#model.tables[index]!.columns.findIndex(({ role }) => role === 'row_key')]!.name;
    const text = lexical(item!, existingItem, itemType);
    return `CASE WHEN t.${quote(name)} IS NOT NULL THEN COALESCE((SELECT GROUP_CONCAT(${text} ORDER BY ${position!} SEPARATOR ' ') FROM ${quote(known.name)} i WHERE ${parent!} = t.${quote(key)}), '') END`;
  }

  async close(): Promise<void> {
    await this.#database?.close();
    this.#database = null;
  }

  #read(sql: string): Promise<(string | null)[][]> {
    return this.#guarded(async () => (await this.#connect()).rows(sql));
  }

  async #connect(): Promise<Mysql> {
    return (this.#database ??= await openMysql(this.#options));
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw mysqlFault(error, this.label);
    }
  }
}

/**
 * Returns the lexical form of a column's values. A column that was widened for other values adds zeros to its earlier ones, and only the
 * target shows that a column holds instants.
 */
function lexical(expression: string, column: FoundColumn, modelled: ColumnType): string {
  const there = column.type;
  const type: ColumnType =
    modelled.kind === 'timestamp' && holdsInstants(column) ? { ...modelled, kind: 'timestamptz' } : modelled;
  const text = textOf(expression, there, type);
  const scale = /^decimal\(\d+,(\d+)\)$/.exec(there)?.[1];
  const fraction = fractionDigits(type);
  if (scale === undefined || fraction === null || Number(scale) <= fraction || isText(there)) return text;
  const shown = `CAST(${expression} AS CHAR)`;
  const added = Number(scale) - fraction;
  const shorter = `CONCAT(LEFT(${shown}, CHAR_LENGTH(${shown}) - ${added}), TRIM(TRAILING '0' FROM RIGHT(${shown}, ${added})))`;
  return fraction === 0 ? `TRIM(TRAILING '.' FROM ${shorter})` : shorter;
}

interface Page {
  readonly from: string;
  /** expressions of text over `t` */
  readonly values: readonly string[];
  readonly where: string;
  /** one or two columns; rows that are equal in them come in one page */
  readonly by: readonly string[];
}

class Pages implements RowBlocks {
  readonly #read: (sql: string) => Promise<(string | null)[][]>;
  readonly #page: Page;
  #after: readonly (string | null)[] | null = null;
  #isDone = false;

  constructor(read: (sql: string) => Promise<(string | null)[][]>, page: Page) {
    this.#read = read;
    this.#page = page;
  }

  async next(): Promise<RowBlock | null> {
    if (this.#isDone) return null;
    const { from, values, where, by } = this.#page;
    const keys = by.map((column) => `t.${quote(column)}`);
    const order = keys.join(', ');
    const after = this.#after === null ? '' : ` AND ${this.#laterThan(keys, this.#after)}`;
    const rows = await this.#read(
      `SELECT ${[...values, ...keys].join(', ')} FROM ${quote(from)} t WHERE ${where}${after} ORDER BY ${order} LIMIT ${pageRows}`,
    );
    this.#isDone = rows.length < pageRows;
    this.#after = rows.at(-1)?.slice(values.length) ?? null;
    return rows.length === 0 ? null : textBlock(rows, values.length);
  }

  #laterThan(keys: readonly string[], [first, second]: readonly (string | null)[]): string {
    if (keys.length === 1) return `${keys[0]!} > ${first!}`;
    return `(${keys[0]!} > ${first!} OR (${keys[0]!} = ${first!} AND ${keys[1]!} > ${mysql.literal(second ?? '')}))`;
  }
}
