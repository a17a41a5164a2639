/** The interface of a layout of files: everything about a folder that depends on the value of `-f`. */
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { SinkPlan } from '../../../../ports/rows/sink.ts';
import type { AppendedFile, FinishedFile } from '../../../../adapters/file-staging/staged-files.ts';
import type { SourceTable } from '../../../sql/duckdb/reader.ts';
import type { ColumnsBesideOptions } from '../columns/beside.ts';
import type { NamedColumn } from '../contents/table-columns.ts';
import type { ManifestTable, TargetManifest } from '../contents/manifest.ts';
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
