/** The tables of a folder as its load scripts make and fill them: with the types that the rows need, and the tables of list items. */
import { standardLiteral, type Dialect } from '../../../../engine/sql/dialect.ts';
import { physicalName, physicalTables } from '../../../../engine/sql/physical-model.ts';
import { lazyArray, memberOf, peekElement } from '../../../../engine/model/packed/reader.ts';
import { tableIndexes, withOtherColumns, withOtherParts } from '../../../../engine/model/packed/models.ts';
import {
  maxDecimalDigits,
  type Column,
  type ColumnType,
  type RelationalModel,
  type Table,
} from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableNames } from '../../../../engine/model/side-tables.ts';
import type { TargetManifest, ManifestTable, ManifestFile } from '../manifest.ts';
import { tableColumns } from '../table-columns.ts';
import { withListTables, type ListTable } from '../../../../engine/sql/list-tables.ts';
import { columnSqlType, decimalDigits, larger } from '../../../sql/duckdb/types.ts';

/** Joins paragraphs to a script, in pieces, because the script of thousands of tables should not be in memory at once. */
export function* script(paragraphs: Iterable<string>): Iterable<string> {
  let isFirst = true;
  for (const paragraph of paragraphs) {
    if (paragraph === '') continue;
    if (!isFirst) yield '\n\n';
    isFirst = false;
    yield paragraph;
  }
  yield '\n';
}

/** Returns the tables of the model and those beside the data. */
export function loadedTables(model: RelationalModel, manifest: TargetManifest): ManifestTable[] {
  const own = ownNames(model);
  return manifest.tables.filter((table) => own.has(table.name));
}

/** Returns whether a job kept codes in a table of the folder. */
export function hasCodes({ codes }: TargetManifest): boolean {
  return codes !== undefined;
}

/** Returns the indexes of the model's tables that have a file: the tables with rows, or all if every table was requested. */
export function tablesOfFolder(model: RelationalModel, manifest: TargetManifest): ReadonlySet<number> {
  const filled = new Set(manifest.tables.map(({ name }) => name));
  return new Set([...tableIndexes(model)].flatMap(([name, at]) => (filled.has(name) ? [at] : [])));
}

export function notLoaded(model: RelationalModel, manifest: TargetManifest): string[] {
  const own = ownNames(model);
  return manifest.tables
    .filter((table) => !own.has(table.name))
    .map(
      (table) => `-- Not loaded because it belongs to another schema: ${table.name.replaceAll(/\s+/g, ' ')}`,
    );
}

function ownNames(model: RelationalModel): ReadonlySet<string> {
  return new Set([...tableIndexes(model).keys(), ...Object.values(sideTableNames), codesTable.name]);
}

/** Returns the model with the types and NOT NULLs that the rows of the folder allow. */
export function adaptedModel(
  model: RelationalModel,
  manifest: TargetManifest,
  typeOf: (column: Column, table: ManifestTable) => Column['type'] = (column) => column.type,
): RelationalModel {
  const byName = new Map(manifest.tables.map((table) => [table.name, table]));
  const make = (at: number): Table => {
    const known = byName.get(memberOf(model.tables, at, 'name'));
    if (known === undefined) return model.tables[at]!;
    const table = peekElement(model.tables, at);
    const adapted = withOtherColumns(table, (columns) => {
      const written = writtenColumns(known);
      return [
        ...columns.map((column): Column => {
          const { name } = column;
          const type = widenedType(known, name) ?? typeOf(column, known);
          // files of another logical schema may lack the column
          const isLacking = written.some((names) => !names.has(name));
          const nullable = column.nullable || isLacking || known.nullable_columns.includes(name);
          return type === column.type && nullable === column.nullable
            ? column
            : { ...column, type, nullable };
        }),
        ...columnsOfOthers(columns, written),
      ];
    });
    // natural keys are expected, but not enforced
    return Object.defineProperty(adapted, 'uniqueKeys', { value: [], enumerable: true });
  };
  const tables = lazyArray(model.tables.length, make, (at, key) =>
    key === 'name' ? memberOf(model.tables, at, key) : make(at)[key as keyof Table],
  );
  return withOtherParts(model, { tables });
}

/** Returns the type that the rows of the folder need for a column, if that is not the type of the model; otherwise null. */
export function widenedType(table: ManifestTable, name: string): ColumnType | null {
  if (table.text_columns.includes(name)) return { kind: 'text' };
  if (table.decimal_columns?.includes(name) === true)
    return { kind: 'numeric', precision: maxDecimalDigits, scale: 0 };
  const digits = table.decimal_digits?.[name];
  return digits === undefined
    ? null
    : { kind: 'numeric', precision: digits[0] + digits[1], scale: digits[1] };
}

/** Returns the columns of each file that has rows. */
function writtenColumns({ files }: ManifestTable): ReadonlySet<string>[] {
  return files.flatMap(({ rows, columns }) => (rows > 0 ? [new Set(columns)] : []));
}

/**
 * Returns the columns that another logical schema wrote into the table and that this one does not have. They are text, which can hold any
 * value.
 */
function columnsOfOthers(own: readonly Column[], written: readonly ReadonlySet<string>[]): Column[] {
  const known = new Set(own.map(({ name }) => name));
  const others = new Set(written.flatMap((names) => [...names].filter((name) => !known.has(name))));
  return [...others].map((name) => ({
    name,
    role: 'value',
    type: { kind: 'text' },
    nullable: true,
    xpath: null,
    path: name,
    sourceType: null,
    references: null,
  }));
}

export function ledger(
  manifest: TargetManifest,
  dialect: Dialect,
  momentOf: (text: string) => string = standardLiteral,
): string {
  const jobs = manifest.jobs.map(
    (job) =>
      `(${standardLiteral(job.job_uuid)}, ${job.job}, ${standardLiteral(job.installation)}, ${job.id_sch ?? 'NULL'}, ${job.id_lschma ?? 'NULL'}, ${job.model_sha256 === null ? 'NULL' : standardLiteral(job.model_sha256)}, ${momentOf(job.published_at)}, ${job.documents}, ${job.rows})`,
  );
  const keys = Object.entries(manifest.keys).map(
    ([table, key]) => `(${standardLiteral(physicalName(dialect, table))}, ${key})`,
  );
  return [
    jobs.length === 0
      ? ''
      : `INSERT INTO ${dialect.quote(sideTableNames.loads)} VALUES\n  ${jobs.join(',\n  ')};`,
    keys.length === 0
      ? ''
      : `INSERT INTO ${dialect.quote(sideTableNames.keys)} VALUES\n  ${keys.join(',\n  ')};`,
  ]
    .filter((statement) => statement !== '')
    .join('\n');
}

/** Returns the type of a decimal column. Unbounded decimals get the bounds that the files require. */
export function decimalOfFiles(name: string, type: ColumnType, table: ManifestTable): ColumnType {
  if (type.kind !== 'numeric' || type.precision !== undefined) return type;
  const used = table.files.flatMap(({ columns, types }) => types?.[columns.indexOf(name)] ?? []);
  const digits = used.map((sqlType) => decimalDigits(sqlType.replace('[]', '')));
  const text: ColumnType = { kind: 'text', ...(type.list ? { list: true } : {}) };
  const [first, ...others] = digits;
  if (first === undefined) return type;
  if (digits.includes(null)) return text;
  const { whole, fraction } = others.reduce((a, b) => larger(a!, b!), first)!;
  return whole + fraction > 38 ? text : { ...type, precision: whole + fraction, scale: fraction };
}

/** A column of a file, and the columns that its values are loaded into. */
export interface LoadedColumn {
  /** its name in the file */
  readonly source: string;
  /** DuckDB's type in a Parquet file */
  readonly from: string | undefined;
  readonly type: ColumnType;
  /** quoted name of the column with the values; for a list with a table of its own, the column with the number of items */
  readonly target: string;
  /** the values need a cast: the file was written when the column had another type */
  readonly isCast: boolean;
  /** the target of the items of a list, or the count beside the array */
  readonly list: LoadedList | null;
}

interface LoadedList {
  /** quoted names; null: the column itself has the items, and `count` is an additional column */
  readonly items: { readonly table: string; readonly columns: readonly string[] } | null;
  readonly count: string;
}

export interface FileLoad {
  /** counts from 1, over all files of the folder */
  readonly number: number;
  /** quoted name */
  readonly table: string;
  readonly file: string;
  readonly columns: readonly LoadedColumn[];
}

/** Returns a function that maps the columns of a file to the tables as they are defined for the dialect. */
export function filesOf(
  adapted: RelationalModel,
  dialect: Dialect,
  { model: drawn, lists } = withListTables(adapted, dialect),
  physical = physicalTables(drawn, dialect, adapted),
): (table: ManifestTable, file: ManifestFile, number: number) => FileLoad {
  const indexes = tableIndexes(adapted);
  const quoted = (name: string): string => dialect.quote(physicalName(dialect, name));
  const listOf = (list: ListTable): LoadedList => {
    const owner = drawn.tables[list.owner]!;
    if (list.table === null) {
      const column = adapted.tables[list.owner]!.columns[list.column]!;
      const count = owner.columns.slice(adapted.tables[list.owner]!.columns.length);
      const nth = lists.filter((one) => one.owner === list.owner).indexOf(list);
      return { items: null, count: quoted((count[nth] ?? column).name) };
    }
    const { name, columns } = physical[list.table]!;
    return {
      items: { table: dialect.quote(name), columns: columns.map((column) => dialect.quote(column.name)) },
      count: quoted(owner.columns[list.column]!.name),
    };
  };
  return (table, file, number) => {
    const owner = indexes.get(table.name) ?? -1;
    const types = new Map(tableColumns(adapted, table.name).map(({ name, type }) => [name, type]));
    return {
      number,
      table: quoted(table.name),
      file: file.name,
      columns: file.columns.map((source, at) => {
        const type = types.get(source)!;
        const from = file.types?.[at];
        const own = lists.find(
          (list) => list.owner === owner && adapted.tables[owner]!.columns[list.column]!.name === source,
        );
        const list = own === undefined ? null : listOf(own);
        return {
          source,
          from,
          type,
          target: list === null || list.items === null ? quoted(source) : list.count,
          isCast: from !== undefined && from !== columnSqlType(type),
          list,
        };
      }),
    };
  };
}
