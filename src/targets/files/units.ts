/**
 * Files that executors write, one set for each unit: the rules that executors get, how one attempt at a unit is written, and how the
 * publishing side checks that the types of all units agree. Other code decides which attempt counts.
 */
import { join } from 'node:path';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import type { FileLayoutName } from '../../ports/layouts.ts';
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import type {
  SideTable,
  UnconvertedValue,
  UnfitColumn,
  UnitToken,
  UnitFile,
  UnitReceipt,
  UnitTarget,
  UnitSink,
} from '../../ports/row-sink.ts';
import { UnfitColumns, usualRoom, columnId, plainDigits } from '../rows/unfit-columns.ts';
import { tableColumns } from './folder/table-columns.ts';
import { typesIn } from './folder/manifest.ts';
import type { ColumnDigits, ColumnTyping, ParquetFile, ParquetTable } from './parquet/writing.ts';
import { StagedFiles, type FinishedFile } from '../../storage/staging/staged-files.ts';
import { layoutOf } from './folder/every-layout.ts';
import { TableRows } from './folder/layout.ts';
import { AppError } from '../../errors.ts';
import { isOwnName } from './json.ts';

/** The column types that values in the units have decided for the files of all units. */
export interface SettledColumns {
  readonly unfit: readonly UnfitColumn[];
  /**
   * for tables with decimals that are unbounded and have more digits than usual: the maximum number of digits of each such column, before
   * and after the point
   */
  readonly digits: readonly (readonly [
    table: number | string,
    columns: readonly (readonly [column: number, whole: number, fraction: number])[],
  ])[];
}

const nothingSettled: SettledColumns = { unfit: [], digits: [] };

export interface FileUnitToken extends UnitToken {
  readonly kind: 'folder' | 'lake';
  readonly format: FileLayoutName;
  /** see ParquetSettings (src/targets/files/parquet/writing.ts) */
  readonly deltas: boolean;
  readonly settled: SettledColumns;
}

/** `key`: the index of a table of the model, or the name of a table beside the data. */
export function tableName(model: RelationalModel, key: number | string): string {
  return typeof key === 'number' ? model.tables[key]!.name : sideTableNames[key as SideTable];
}

/** Returns the column types of a table, as the units have settled them. */
export function typingOf(
  model: RelationalModel,
  key: number | string,
  settled: SettledColumns,
): ColumnTyping {
  const name = tableName(model, key);
  const unfit = new UnfitColumns().addAll(settled.unfit.filter(([table]) => table === key));
  return {
    columns: tableColumns(model, name),
    widened: typesIn(model, unfit.types(model, usualRoom)).get(name) ?? new Map(),
  };
}

export function digitsOf(key: number | string, { digits }: SettledColumns): ColumnDigits {
  const found = digits.find(([table]) => table === key)?.[1] ?? [];
  return new Map(found.map(([column, whole, fraction]) => [column, { whole, fraction }]));
}

/** The additions of a table format to Parquet files. */
interface ParquetTables {
  readonly typing: (key: number | string) => Pick<ParquetTable, 'typeOf' | 'fieldIdsOf'>;
  readonly told: (key: number | string, file: ParquetFile) => Pick<UnitFile, 'stats' | 'fieldIds'>;
  /** splits a file into files in the same folder */
  readonly apart: (file: UnitFile) => Promise<readonly UnitFile[]>;
}

const plainParquet: ParquetTables = {
  typing: () => ({}),
  told: () => ({}),
  apart: async (file) => [file],
};

/** `folder`: used by this attempt only. */
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

  /** The types are those that the rows here and the other known units need. */
  async #parquet(staged: readonly FinishedFile[]): Promise<UnitFile[]> {
    const { settled } = this.#token;
    const unfit = [...settled.unfit, ...this.#unfit.columns];
    const tables = staged.map((file) => {
      const key = this.#keys.get(file.name)!;
      const typing = typingOf(this.#model, key, { ...settled, unfit });
      return { ...typing, ...this.#tables.typing(key), digits: digitsOf(key, settled), file };
    });
    // loaded only for Parquet
    const { writeParquet } = await import('./parquet/writing.ts');
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

/** The rules that a kind of target gives to executors, and its requirements for their files. */
export interface UnitRules {
  readonly tokenFor: (settled: SettledColumns) => Promise<FileUnitToken>;
  /** null if files have no types */
  readonly rulesFor: ((settled: SettledColumns) => Promise<TypeRules>) | null;
}

interface FileUnitsOptions extends UnitRules {
  readonly model: RelationalModel;
  /** Adopts a unit's file at that path as one of the target's. */
  readonly take: (file: UnitFile, path: string, unit: number) => Promise<void>;
  readonly nullAllowed: Set<string>;
  readonly unfit: UnfitColumns;
  readonly guarded: <T>(work: () => Promise<T>) => Promise<T>;
}

export function createFileUnits(options: FileUnitsOptions): UnitTarget {
  const { model, tokenFor, rulesFor, guarded } = options;
  let expected = 0;
  return {
    begin: (units) => {
      expected = units;
      return guarded(() => tokenFor(nothingSettled));
    },

    unsettled: async (receipts) => {
      if (rulesFor === null) return null;
      return guarded(async () => {
        const settled = await settledBy(receipts);
        const units = await unsettledUnits(model, receipts, settled, await rulesFor(settled));
        return units.length === 0 ? null : { units, token: await tokenFor(settled) };
      });
    },

    adopt: (receipts, folderOf) =>
      guarded(async () => {
        if (receipts.length !== expected)
          throw new AppError('internal_error', `Only ${receipts.length} of ${expected} units were reported.`);
        for (const [unit, { nullAllowed, unconverted, files = [] }] of receipts.entries()) {
          for (const [table, column] of nullAllowed) options.nullAllowed.add(columnId(table, column));
          options.unfit.addAll(unconverted);
          for (const file of files) {
            if (!isOwnName(file.name))
              throw new AppError(
                'internal_error',
                `Unit ${unit} reports a file that belongs to another unit.`,
              );
            await options.take(file, join(folderOf(unit), file.name), unit);
          }
        }
      }),
  };
}

/** Returns what the receipts have decided so far. The numbers of digits grow until each unit has counted its own. */
async function settledBy(receipts: readonly UnitReceipt[]): Promise<SettledColumns> {
  // loaded only if files have types
  const { maxDigits } = await import('./parquet/writing.ts');
  const unfit = new UnfitColumns();
  const digits = new Map<number | string, ColumnDigits>();
  for (const { unconverted, files = [] } of receipts) {
    unfit.addAll(unconverted);
    for (const file of files) {
      if (file.digits === undefined) continue;
      const own = new Map(file.digits.map(([column, whole, fraction]) => [column, { whole, fraction }]));
      digits.set(file.table, maxDigits(digits.get(file.table) ?? new Map(), own));
    }
  }
  return {
    unfit: unfit.columns,
    digits: [...digits].map(([table, columns]) => [
      table,
      [...columns].map(([column, { whole, fraction }]) => [column, whole, fraction] as const),
    ]),
  };
}

/** `typingFor`: the additions of a table format; `numbered`: whether a file has the field ids that its columns are to have. */
export interface TypeRules {
  readonly typingFor?: (key: number | string) => Pick<ColumnTyping, 'typeOf'>;
  readonly numbered?: (file: UnitFile) => Promise<boolean>;
}

/** Returns the numbers of the units with a file of other types, or without the digits that are required. */
async function unsettledUnits(
  model: RelationalModel,
  receipts: readonly UnitReceipt[],
  settled: SettledColumns,
  { typingFor, numbered }: TypeRules,
): Promise<number[]> {
  const { typesOf } = await import('./parquet/writing.ts');
  const types = new Map<number | string, readonly string[]>();
  const expected = async (key: number | string): Promise<readonly string[]> => {
    let found = types.get(key);
    if (found === undefined) {
      const typing = { ...typingOf(model, key, settled), ...typingFor?.(key) };
      types.set(key, (found = await typesOf(typing, digitsOf(key, settled))));
    }
    return found;
  };
  const counted = new Set(settled.digits.map(([table]) => table));
  const isSettled = async (file: UnitFile): Promise<boolean> => {
    if (counted.has(file.table) && file.digits === undefined) return false;
    const wanted = await expected(file.table);
    return (
      wanted.every((type, at) => type === file.types?.[at]) &&
      (numbered === undefined || (await numbered(file)))
    );
  };
  const found: number[] = [];
  for (const [unit, { files = [] }] of receipts.entries())
    for (const file of files)
      if (!(await isSettled(file))) {
        found.push(unit);
        break;
      }
  return found;
}
