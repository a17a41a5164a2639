/** Rows of tables as the files of a folder's format have them: below a header line. */
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { FolderLayout } from './layouts/folder-layout.ts';
import type { HandedRows, StagedFiles } from '../../../adapters/file-staging/staged-files.ts';
import { tableColumns } from './contents/table-columns.ts';

export class TableRows {
  readonly #layout: FolderLayout;
  readonly #model: RelationalModel;
  readonly #files: StagedFiles;

  constructor(layout: FolderLayout, model: RelationalModel, files: StagedFiles) {
    this.#layout = layout;
    this.#model = model;
    this.#files = files;
  }

  /** Into the file of that name, which has rows of no other table; those of Parquet are made of these at the end. */
  async write(table: string, name: string, ...rows: HandedRows): Promise<void> {
    if (!this.#files.has(name)) {
      const columns = tableColumns(this.#model, table).map((column) => column.name);
      await this.#files.write(name, this.#layout.header(columns), 0);
    }
    await this.#files.write(name, ...rows);
  }
}
