/** The tables of a folder when a job opens it. Each table is read once. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import {
  openDataFiles,
  parquet,
  wholeRows,
  type DataFiles,
  rowFiles,
  type PresentFile,
} from './data-files.ts';
import { formatsOf, mainFormat, numberingFormat } from './formats.ts';
import type { LakeManifest } from './manifest.ts';
import type { PartitionField } from './partition-fields.ts';
import { eachAtOnce } from '../place/journal.ts';
import type { LakePlace } from './place.ts';
import {
  type FieldIds,
  type LakeField,
  type LakeFile,
  type TableFormat,
  type TableVersion,
  dataFolder,
  isOwnFile,
  type FileChoice,
} from './table-format.ts';

const everyFile: FileChoice = () => true;

export class ExistingTables {
  readonly #place: LakePlace;
  readonly #directories: Map<string, string>;
  readonly #format: LakeManifest['format'];
  readonly #states = new Map<string, ReadonlyMap<TableFormat, TableVersion | null>>();
  readonly #files: DataFiles;

  /** `scratch`: a folder inside that of the place, for data that does not fit into memory */
  constructor(place: LakePlace, manifest: LakeManifest, scratch: string) {
    this.#place = place;
    this.#directories = new Map(manifest.tables.map((table) => [table.name, table.directory]));
    this.#format = manifest.format;
    this.#files = openDataFiles(place.local, scratch);
  }

  /** Registers a table that no job has recorded, and that is to contain rows of jobs. */
  adopt(table: string, directory: string): void {
    this.#directories.set(table, directory);
  }

  /** Returns null for a table that jobs did not create. */
  directoryOf(table: string): string | null {
    return this.#directories.get(table) ?? null;
  }

  /** Reads the tables, several at a time; throws as `columns` does. */
  async lookAt(tables: readonly string[]): Promise<void> {
    await eachAtOnce(tables, (table) => this.#inFormats(table));
  }

  /** Returns the columns by name; null if the table does not exist. AppError `conflict` if others added columns that we cannot write. */
  async columns(table: string): Promise<ReadonlyMap<string, LakeField> | null> {
    const state = await this.#state(table);
    if (state === null) return null;
    return new Map(state.fields.map((field) => [field.name, field]));
  }

  /** Returns the partition fields of the table; null if the table does not exist. */
  async partitioning(table: string): Promise<readonly PartitionField[] | null> {
    return (await this.#state(table))?.partitioning ?? null;
  }

  /** Returns the field ids that columns will have in the table; null if the format has none. */
  async fieldIds(table: string, fields: readonly LakeField[]): Promise<FieldIds | null> {
    const format = numberingFormat(this.#format);
    if (format === null) return null;
    return format.fieldIds((await this.#inFormats(table)).get(format) ?? null, fields);
  }

  /** Returns the tables that hold rows. */
  async filled(tables: readonly string[]): Promise<string[]> {
    const filled: string[] = [];
    for (const table of tables) {
      const files = [...((await this.#state(table))?.files.values() ?? [])];
      if (files.some(({ rows }) => rows !== 0)) filled.push(table);
    }
    return filled;
  }

  /** Returns the highest key of each table that others may have given to rows. */
  async foreignKeys(model: RelationalModel): Promise<ReadonlyMap<string, number>> {
    const keys = new Map<string, number>();
    const keyed = model.tables.flatMap(({ name, columns }) => {
      const key = columns.find(({ role }) => role === 'row_key');
      return key === undefined ? [] : [[name, key.name] as const];
    });
    for (const [table, key] of [...keyed, [sideTableNames.documents, fileKeyName] as const]) {
      const files = await this.#filesIn(table, everyFile);
      const told = files.map(({ of }) => of.rangeOf(key)?.[1] ?? null);
      const [row] = await this.#rowsOf<{ key: bigint | null }>(
        table,
        files.filter(({ name }, at) => !isOwnFile(name) && told[at] === null),
        (from) => `SELECT max(${doubleQuoted(key)})::BIGINT AS key FROM ${from}`,
      );
      const highest = [...told, row?.key ?? null].reduce(
        (high, one) => (one !== null && (high === null || one > high) ? one : high),
        null,
      );
      // higher keys are hashes, and new keys are not counted from them
      if (highest !== null && highest <= Number.MAX_SAFE_INTEGER) keys.set(table, Number(highest));
    }
    return keys;
  }

  /** Returns those wanted SHA-256 hashes (hex) whose documents the jobs loaded. */
  async documentsOf(jobs: readonly string[], wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    if (jobs.length === 0) return new Set();
    const rows = await this.rows<{ sha256: string }>(
      sideTableNames.documents,
      (from) => `SELECT sha256 FROM ${from} WHERE job_uuid IN (${jobs.map(standardLiteral).join(', ')})`,
    );
    return new Set(rows.map(({ sha256 }) => sha256).filter((sha256) => wanted.has(sha256)));
  }

  /**
   * Returns the result of a query over the table's rows; empty if the table does not exist. `select` makes the query from the relation that
   * follows FROM. `isWanted` selects the files whose rows count.
   */
  async rows<T>(
    table: string,
    select: (from: string) => string,
    isWanted: FileChoice = everyFile,
  ): Promise<T[]> {
    return this.#rowsOf(table, await this.#filesIn(table, isWanted), select);
  }

  async #rowsOf<T>(
    table: string,
    files: readonly PresentFile[],
    select: (from: string) => string,
  ): Promise<T[]> {
    if (files.length === 0) return [];
    return this.#files.read<T>(select(parquet(await rowFiles(this.#place, files))));
  }

  async #filesIn(table: string, isWanted: FileChoice): Promise<readonly PresentFile[]> {
    const directory = this.#directories.get(table);
    const files = (await this.#state(table))?.files ?? new Map<string, LakeFile>();
    return [...files].flatMap(([name, of]) =>
      isWanted(of) ? [{ path: `${directory!}/${name}`, name, of }] : [],
    );
  }

  /**
   * Returns, by table, the relation that follows FROM: all columns of the table, and no rows if the table does not exist. `isWanted`: as in
   * `rows`.
   */
  async relations(
    tables: readonly string[],
    isWanted: FileChoice = everyFile,
  ): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for (const table of tables) {
      const state = await this.#state(table);
      if (state === null) continue;
      const columns = state.fields.flatMap(({ name, sqlType }) =>
        sqlType === null ? [] : [{ name, sqlType }],
      );
      const files = await rowFiles(this.#place, await this.#filesIn(table, isWanted));
      found.set(table, wholeRows(files, columns));
    }
    return found;
  }

  read<T>(sql: string): Promise<T[]> {
    return this.#files.read<T>(sql);
  }

  async close(): Promise<void> {
    await this.#files.close();
  }

  async #state(table: string): Promise<TableVersion | null> {
    return (await this.#inFormats(table)).get(mainFormat(this.#format)) ?? null;
  }

  async #inFormats(table: string): Promise<ReadonlyMap<TableFormat, TableVersion | null>> {
    const known = this.#states.get(table);
    if (known !== undefined) return known;
    const states = new Map<TableFormat, TableVersion | null>();
    const directory = this.#directories.get(table);
    const label = `${this.#place.label}: ${table}`;
    for (const format of directory === undefined ? [] : formatsOf(this.#format)) {
      const found = await format.readTable(this.#place, directory!, label);
      found?.checkWritable();
      states.set(format, found);
    }
    // checked before the step is decided, because files are moved there
    if ((states.get(mainFormat(this.#format)) ?? null) !== null)
      await this.#place.list(`${directory!}/${dataFolder}`);
    this.#states.set(table, states);
    return states;
  }
}
