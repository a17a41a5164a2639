/** One attempt at a unit, written into files of its own folder, as the target will have them: which attempt counts is for others to say. */
import { columnId, UnfitColumns, plainDigits } from '../../../rows/unfit-columns.ts';
import { StagedFiles, type FinishedFile } from '../../../../adapters/file-staging/staged-files.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { SideTable, UnconvertedValue } from '../../../../ports/rows/sink.ts';
import type { UnitFile, UnitReceipt } from '../../../../ports/rows/units.ts';
import type { UnitSink } from '../../../../ports/rows/unit-sink.ts';
import type { ParquetFile, ParquetTable } from '../parquet.ts';
import { layoutOf } from '../layouts/every-layout.ts';
import { TableRows } from '../table-rows.ts';
import { digitsOf, tableName, typingOf, type FileUnitToken } from './token.ts';

/** What a format of tables adds to Parquet files. */
export interface ParquetTables {
  readonly typing: (key: number | string) => Pick<ParquetTable, 'typeOf' | 'fieldIdsOf'>;
  readonly told: (key: number | string, file: ParquetFile) => Pick<UnitFile, 'stats' | 'fieldIds'>;
  /** the files of the same folder that a file becomes */
  readonly apart: (file: UnitFile) => Promise<readonly UnitFile[]>;
}

const plainParquet: ParquetTables = {
  typing: () => ({}),
  told: () => ({}),
  apart: async (file) => [file],
};

/** `folder`: of the attempt, nobody else’s. */
export function openFileUnit(
  token: FileUnitToken,
  model: RelationalModel,
  folder: string,
  tables: ParquetTables = plainParquet,
): UnitSink {
  return new FileUnitSink(token, model, folder, tables);
}

class FileUnitSink implements UnitSink {
  readonly #token: FileUnitToken;
  readonly #model: RelationalModel;
  readonly #folder: string;
  readonly #tables: ParquetTables;
  readonly #files: StagedFiles;
  readonly #hasTypes: boolean;
  readonly #rows: TableRows;
  /** keys of tables, by the names of their files */
  readonly #keys = new Map<string, number | string>();
  readonly #nullAllowed = new Map<string, readonly [number, number]>();
  readonly #unfit = new UnfitColumns();

  constructor(token: FileUnitToken, model: RelationalModel, folder: string, tables: ParquetTables) {
    this.#token = token;
    this.#model = model;
    this.#folder = folder;
    this.#tables = tables;
    const layout = layoutOf(token.format);
    this.#hasTypes = layout.units === 'typed';
    const isScratch = this.#hasTypes;
    this.#files = new StagedFiles(folder, { isScratch, holdsSmall: isScratch });
    this.#rows = new TableRows(layout, model, this.#files);
  }

  write(table: number, rows: Uint8Array, rowCount: number): Promise<void> {
    return this.#write(table, rows, rowCount);
  }

  writeSide(table: SideTable, rows: Uint8Array, rowCount: number): Promise<void> {
    return this.#write(table, rows, rowCount);
  }

  async unconverted({ table, column, text }: UnconvertedValue): Promise<void> {
    this.#unfit.add(table, column, plainDigits(text));
  }

  allowNull(table: number, column: number): void {
    this.#nullAllowed.set(columnId(table, column), [table, column]);
  }

  async commit(note: (receipt: UnitReceipt) => string): Promise<string> {
    const staged = await this.#files.finish();
    const files = this.#hasTypes ? await this.#parquet(staged) : staged.map(this.#told);
    return note({
      rows: files.map(({ table, rows }) => [table, rows] as const),
      nullAllowed: [...this.#nullAllowed.values()],
      unconverted: this.#unfit.columns,
      files,
    });
  }

  async close(): Promise<void> {
    await this.#files.settle();
  }

  async #write(key: number | string, rows: Uint8Array, rowCount: number): Promise<void> {
    const name = `${key}.${this.#token.format}`;
    this.#keys.set(name, key);
    await this.#rows.write(tableName(this.#model, key), name, rows, rowCount);
  }

  #told = ({ name, rows, bytes, sha256 }: FinishedFile): UnitFile => ({
    table: this.#keys.get(name)!,
    name,
    rows,
    bytes,
    sha256,
  });

  /** Types are those of the rows here, and what other units are known to need. */
  async #parquet(staged: readonly FinishedFile[]): Promise<UnitFile[]> {
    const { settled } = this.#token;
    const unfit = [...settled.unfit, ...this.#unfit.columns];
    const tables = staged.map((file) => {
      const key = this.#keys.get(file.name)!;
      const typing = typingOf(this.#model, key, { ...settled, unfit });
      return { ...typing, ...this.#tables.typing(key), digits: digitsOf(key, settled), file };
    });
    // loaded for Parquet alone
    const { writeParquet } = await import('../parquet.ts');
    const written = await writeParquet(this.#folder, tables, this.#token);
    const files = written.map((made): UnitFile => {
      const told = this.#told(made.file);
      const digits = [...made.digits].map(([at, { whole, fraction }]) => [at, whole, fraction] as const);
      return {
        ...told,
        types: made.file.types,
        ...(digits.length === 0 ? {} : { digits }),
        ...this.#tables.told(told.table, made),
      };
    });
    const apart: UnitFile[] = [];
    for (const file of files) apart.push(...(await this.#tables.apart(file)));
    return apart;
  }
}
