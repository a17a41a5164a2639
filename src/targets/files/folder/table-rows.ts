/** Rows of tables as the files of a folder's format have them: below a header line. */
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { HandedRows, StagedFiles } from '../../../adapters/file-staging/staged-files.ts';
import { headerLine, tableColumns, type FolderFormat } from './contents/formats.ts';

export class TableRows {
  readonly #format: FolderFormat;
  readonly #model: RelationalModel;
  readonly #files: StagedFiles;

  constructor(format: FolderFormat, model: RelationalModel, files: StagedFiles) {
    this.#format = format;
    this.#model = model;
    this.#files = files;
  }

  /** Into the file of that name, which has rows of no other table; those of Parquet are made of these at the end. */
  async write(table: string, name: string, ...rows: HandedRows): Promise<void> {
    if (!this.#files.has(name)) {
      const columns = tableColumns(this.#model, table).map((column) => column.name);
      await this.#files.write(name, headerLine(this.#format, columns), 0);
    }
    await this.#files.write(name, ...rows);
  }
}
