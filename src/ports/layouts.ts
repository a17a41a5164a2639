/**
 * The layouts of a folder, which `-f` names, with the facts that options, stored requests and targets need. Every layout of files has
 * an object of the same name in src/targets/files/folder/every-layout.ts, and every layout of tables has its formats in
 * src/targets/files/lake/formats.ts: the type checker names a layout that lacks them.
 */
import type { EncodingName } from '../engine/shred/row-output.ts';

interface LayoutFacts {
  readonly title: string;
  /** `files`: files that the manifest of the folder lists; `tables`: tables of a lake, which have versions and take part in `-S m` */
  readonly holds: 'files' | 'tables';
  /** encoding of the rows that the sink receives */
  readonly encoding: EncodingName;
  /** versions of Parquet's encodings that `--parquet-version` may choose; none: there are no Parquet files */
  readonly parquetVersions: readonly (1 | 2)[];
  /** the SQL dialect in which `-S p` prints the tables: that of the database that reads the files best */
  readonly dialect: 'postgresql' | 'duckdb';
  /** whether rows are read again: by `er2xml`, `--skip-loaded` and `--keys hash` */
  readonly isReadAgain: boolean;
  /**
   * the advice for a path with a file suffix of the layout (`orders.parquet`): what the layout writes into a folder; null: such a path
   * is a folder
   */
  readonly insteadOfFile: string | null;
}

const text = {
  holds: 'files',
  parquetVersions: [],
  dialect: 'postgresql',
  isReadAgain: true,
  insteadOfFile: null,
} as const;
const tables = {
  holds: 'tables',
  encoding: 'words',
  dialect: 'duckdb',
  isReadAgain: true,
  insteadOfFile: null,
} as const;

/** The layouts by the value of `-f`. The first one is the default. */
export const layouts = {
  csv: { ...text, title: 'CSV', encoding: 'csv' },
  tsv: { ...text, title: 'TSV', encoding: 'tsv' },
  jsonl: { ...text, title: 'JSON Lines', encoding: 'json-lines' },
  parquet: {
    title: 'Parquet',
    holds: 'files',
    encoding: 'words',
    parquetVersions: [1, 2],
    dialect: 'duckdb',
    isReadAgain: true,
    insteadOfFile: 'which makes a file of Parquet for each table in it',
  },
  xlsx: {
    title: 'Excel',
    holds: 'files',
    encoding: 'words',
    parquetVersions: [],
    dialect: 'postgresql',
    // a cell of Excel does not hold every value as it was
    isReadAgain: false,
    insteadOfFile: 'which makes a workbook with a sheet for each table in it',
  },
  delta: { ...tables, title: 'Delta Lake', parquetVersions: [1, 2] },
  // readers of Iceberg tables do not all know the encodings of version 2
  iceberg: { ...tables, title: 'Iceberg', parquetVersions: [1] },
  'delta,iceberg': { ...tables, title: 'Delta Lake and Iceberg', parquetVersions: [1] },
} as const satisfies Readonly<Record<string, LayoutFacts>>;

export type LayoutName = keyof typeof layouts;

type NamesOf<Held extends LayoutFacts['holds']> = {
  [Name in LayoutName]: (typeof layouts)[Name]['holds'] extends Held ? Name : never;
}[LayoutName];

/** Layouts of files. */
export type FileLayoutName = NamesOf<'files'>;
/** Layouts of tables of a lake. */
export type TableLayoutName = NamesOf<'tables'>;

export const layoutNames = Object.keys(layouts) as readonly LayoutName[] as readonly [
  LayoutName,
  ...LayoutName[],
];

export const defaultLayout: FileLayoutName = 'csv';

export function layoutFacts(name: LayoutName): LayoutFacts {
  return layouts[name];
}

/** Whether a value, which may come from outside, names a layout of files. */
export function isFileLayout(name: unknown): name is FileLayoutName {
  return layoutNames.some((known) => known === name && layouts[known].holds === 'files');
}

/** Whether a value, which may come from outside, names a layout of tables. */
export function isTableLayout(name: unknown): name is TableLayoutName {
  return layoutNames.some((known) => known === name && layouts[known].holds === 'tables');
}

/** Titles of the layouts of files. */
export const fileLayoutTitles: readonly string[] = layoutNames
  .filter(isFileLayout)
  .map((name) => layouts[name].title);
