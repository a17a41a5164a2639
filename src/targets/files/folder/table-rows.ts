/** Rows of tables as the files of a folder's format have them: below a header line. */
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { FolderLayout } from './layouts/folder-layout.ts';
import type { HandedRows, StagedFiles } from '../../../adapters/file-staging/staged-files.ts';
import { AppError } from '../../../errors.ts';
import { tableColumns } from './contents/table-columns.ts';

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
