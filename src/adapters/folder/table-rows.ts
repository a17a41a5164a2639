/** Rows of tables as the files of a folder's format have them: below a header line, JSON Lines made of COPY text. */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { createJsonLinesEncoder } from '../../engine/shred/json-lines/encoder.ts';
import {
  createLinesKernel,
  type LinesEncoder,
  type LinesKernel,
} from '../../engine/shred/json-lines/kernel.ts';
import { SpareBuffers } from '../../engine/spare-buffers.ts';
import type { HandedRows, StagedFiles } from '../file-staging/staged-files.ts';
import { headerLine, tableColumns, type FolderFormat } from './contents/formats.ts';

export class TableRows {
  readonly #format: FolderFormat;
  readonly #model: RelationalModel;
  readonly #files: StagedFiles;
  readonly #encoders = new Map<string, LinesEncoder>();
  /** for JSON Lines until they are written */
  readonly #buffers = new SpareBuffers();
  /** of all tables; made when rows come */
  #lines: LinesKernel | null | undefined = undefined;

  constructor(format: FolderFormat, model: RelationalModel, files: StagedFiles) {
    this.#format = format;
    this.#model = model;
    this.#files = files;
  }

  /** Into the file of that name, which has rows of no other table; those of Parquet are made of these at the end. */
  async write(table: string, name: string, ...[rows, rowCount, release]: HandedRows): Promise<void> {
    if (!this.#files.has(name)) {
      const columns = tableColumns(this.#model, table).map((column) => column.name);
      await this.#files.write(name, headerLine(this.#format, columns), 0);
    }
    if (this.#format === 'jsonl') {
      const lines = this.#jsonLines(table)(rows);
      release?.(rows);
      await this.#files.write(name, lines, rowCount, () => this.#buffers.giveBack(lines));
    } else await this.#files.write(name, rows, rowCount, release);
  }

  #jsonLines(table: string): LinesEncoder {
    let encoder = this.#encoders.get(table);
    if (encoder === undefined) {
      this.#lines = this.#lines === undefined ? createLinesKernel() : this.#lines;
      encoder = createJsonLinesEncoder(tableColumns(this.#model, table), this.#lines, this.#buffers);
      this.#encoders.set(table, encoder);
    }
    return encoder;
  }
}
