/**
 * The interface of a layout of files, which is everything about a folder that depends on the value of `-f`, and a writer of rows in a
 * layout.
 */
import { AppError } from '../../../errors.ts';
import { tableColumns, type NamedColumn } from './table-columns.ts';
import type {
  HandedRows,
  StagedFiles,
  AppendedFile,
  FinishedFile,
} from '../../../storage/staging/staged-files.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { SinkPlan } from '../../../ports/row-sink.ts';
import type { SourceTable } from '../../sql/duckdb/reader.ts';
import type { ColumnsBesideOptions } from '../parquet/beside.ts';
import type { ManifestTable, TargetManifest } from './manifest.ts';
import type { RewriteRows } from './rewritten-file.ts';

/** A script beside the rows, with which other programs read them. */
export interface FolderScript {
  readonly name: string;
  /** Returns whether a folder with that manifest has the script. */
  isBeside(manifest: ScriptConditions): boolean;
  /** Returns the text in pieces. `manifest`: one for which `isBeside` is true. */
  render(plan: SinkPlan, manifest: TargetManifest): Promise<Iterable<string>>;
}

/** The members of a manifest that decide which scripts a folder has. */
export type ScriptConditions = Pick<TargetManifest, 'format' | 'data_package' | 'views' | 'location'>;

/** Makes the files of a job from its staged rows. */
export interface FileMaking {
  /** Called for each staged file whose size on disk has grown. */
  readonly appended?: (file: AppendedFile) => void;
  /** Replaces the staged files by the finished ones, durably. Returns for each staged file, in their order, the file that has its rows. */
  write(staged: readonly FinishedFile[]): Promise<FinishedFile[]>;
  /** Ends the work that still runs beside the load; may be called at any time. */
  end(): Promise<void>;
}

export interface FileMakingOptions extends ColumnsBesideOptions {
  readonly model: RelationalModel;
  /** names of the staged files, by table */
  readonly stagedNames: () => ReadonlyMap<string, string>;
  /** Returns a name for a file with the rows of all tables. */
  readonly fileName: () => Promise<string>;
}

/** The tables of a folder while it is read. */
export interface OpenedTables {
  table(table: ManifestTable, columns: readonly NamedColumn[]): SourceTable;
}

/** The reader of the rows in a folder. */
export interface StoredLayout {
  openTables(directory: string, label: string, tables: readonly ManifestTable[]): Promise<OpenedTables>;
  /** Returns the hashes of a file of `_documents`. */
  documentHashes(directory: string, path: string): AsyncIterable<string>;
  readonly rewrite: RewriteRows;
}

export interface FolderLayout {
  /** Returns the line before the rows of a file; empty if the layout names the columns elsewhere. */
  header(names: readonly string[]): Uint8Array;
  /** see `RowSink.scalesDecimals` */
  readonly scalesDecimals: boolean;
  /** Null: the staged files are the final files. */
  readonly makeFiles: ((options: FileMakingOptions) => FileMaking) | null;
  /** The maximum rows, including the heading, and columns that a job may have for one table; null: no limit. */
  readonly limits: { readonly rows: number; readonly columns: number; readonly advice: string } | null;
  /** in the order in which messages list them */
  readonly scripts: readonly FolderScript[];
  /** The files that executors on other machines write: final files, or typed files with equal types. Null: executors only write rows. */
  readonly units: 'plain' | 'typed' | null;
  /** null: rows cannot be read back */
  readonly stored: StoredLayout | null;
}

/** Writes the rows of tables in the form of a layout, after a header line. */
export class TableRows {
  readonly #layout: FolderLayout;
  readonly #model: RelationalModel;
  readonly #files: StagedFiles;
  /** the number of rows so far, by file, if there are limits */
  readonly #counts = new Map<string, number>();

  constructor(layout: FolderLayout, model: RelationalModel, files: StagedFiles) {
    this.#layout = layout;
    this.#model = model;
    this.#files = files;
  }

  /** Writes rows into the file of that name, which has rows of one table only. Parquet files are made from these files at the end. */
  async write(table: string, name: string, ...rows: HandedRows): Promise<void> {
    if (!this.#files.has(name)) {
      const columns = tableColumns(this.#model, table).map((column) => column.name);
      this.#checkColumns(table, columns.length);
      await this.#files.write(name, this.#layout.header(columns), 0);
    }
    this.#checkRows(table, name, rows[1]);
    await this.#files.write(name, ...rows);
  }

  #checkColumns(table: string, columns: number): void {
    const { limits } = this.#layout;
    if (limits === null || columns <= limits.columns) return;
    throw new AppError(
      'unprocessable_input',
      `table ${table}: it has ${columns} columns, but a sheet holds only ${limits.columns}. Use -f csv or -f parquet.`,
    );
  }

  /** Fails a load that exceeds the limits at the first excess row, not after all rows. */
  #checkRows(table: string, name: string, more: number): void {
    const { limits } = this.#layout;
    if (limits === null) return;
    const rows = (this.#counts.get(name) ?? 0) + more;
    this.#counts.set(name, rows);
    if (rows < limits.rows) return;
    throw new AppError(
      'unprocessable_input',
      `table ${table}: there are more than ${limits.rows - 1} rows, the most that a sheet holds below its heading. ${limits.advice}`,
    );
  }
}
