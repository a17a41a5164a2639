/** The interface of a layout of files: everything about a folder that depends on the value of `-f`. And rows by a layout. */
import { AppError } from '../../../../errors.ts';
import { tableColumns, type NamedColumn } from '../table-columns.ts';
import type {
  HandedRows,
  StagedFiles,
  AppendedFile,
  FinishedFile,
} from '../../../../adapters/file-staging/staged-files.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import type { SourceTable } from '../../../sql/duckdb/reader.ts';
import type { ColumnsBesideOptions } from '../../parquet/beside.ts';
import type { ManifestTable, TargetManifest } from '../manifest.ts';
import type { RewriteRows } from '../written/rewritten-file.ts';

/** A file beside the rows, which tells other programs how to read them. */
export interface FolderScript {
  readonly name: string;
  /** Whether it lies in a folder of that manifest. */
  isBeside(manifest: ScriptConditions): boolean;
  /** Returns its text in pieces. `manifest`: one that the script lies beside. */
  render(plan: SinkPlan, manifest: TargetManifest): Promise<Iterable<string>>;
}

/** The members of a manifest that decide which scripts a folder has. */
export type ScriptConditions = Pick<TargetManifest, 'format' | 'data_package' | 'views' | 'location'>;

/** Makes the files of a job from its staged rows. */
export interface FileMaking {
  /** Hears of each staged file that has more bytes on the disk. */
  readonly appended?: (file: AppendedFile) => void;
  /** Puts the files in place of the staged ones, durably. Returns for each staged file, in their order, the file that has its rows. */
  write(staged: readonly FinishedFile[]): Promise<FinishedFile[]>;
  /** Ends what still runs beside the load; may be called at any time. */
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

/** How rows that lie in the folder are read again. */
export interface StoredLayout {
  openTables(directory: string, label: string, tables: readonly ManifestTable[]): Promise<OpenedTables>;
  /** Returns the hashes of a file of `_documents`. */
  documentHashes(directory: string, path: string): AsyncIterable<string>;
  readonly rewrite: RewriteRows;
}

export interface FolderLayout {
  /** Returns the line before the rows of a file; empty where the layout names the columns elsewhere. */
  header(names: readonly string[]): Uint8Array;
  /** see `RowSink.scalesDecimals` */
  readonly scalesDecimals: boolean;
  /** Null: the staged files are the folder's, as they are. */
  readonly makeFiles: ((options: FileMakingOptions) => FileMaking) | null;
  /** The most rows, including the heading, and columns that a job may have for one table; null: no limit. */
  readonly limits: { readonly rows: number; readonly columns: number; readonly advice: string } | null;
  /** in the order in which messages list them */
  readonly scripts: readonly FolderScript[];
  /** The files that executors on other machines write: final files, or typed files, whose types must agree. Null: executors only write rows. */
  readonly units: 'plain' | 'typed' | null;
  /** null: rows are not read again */
  readonly stored: StoredLayout | null;
}

/** Rows of tables as the files of a layout have them: below a header line. */
export class TableRows {
  readonly #layout: FolderLayout;
  readonly #model: RelationalModel;
  readonly #files: StagedFiles;
  /** rows that came so far, by file, where there are limits of them */
  readonly #counts = new Map<string, number>();

  constructor(layout: FolderLayout, model: RelationalModel, files: StagedFiles) {
    this.#layout = layout;
    this.#model = model;
    this.#files = files;
  }

  /** Into the file of that name, which has rows of no other table; those of Parquet are made of these at the end. */
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
      `table ${table}: it has ${columns} columns, and a sheet holds ${limits.columns}. Take -f csv or -f parquet.`,
    );
  }

  /** A load that does not fit ends when the first row too many comes, not when all have come. */
  #checkRows(table: string, name: string, more: number): void {
    const { limits } = this.#layout;
    if (limits === null) return;
    const rows = (this.#counts.get(name) ?? 0) + more;
    this.#counts.set(name, rows);
    if (rows < limits.rows) return;
    throw new AppError(
      'unprocessable_input',
      `table ${table}: there are more than ${limits.rows - 1} rows, which is what a sheet holds below its heading. ${limits.advice}`,
    );
  }
}
