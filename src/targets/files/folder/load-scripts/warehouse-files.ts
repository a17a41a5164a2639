/** Files of Parquet as a warehouse loads them: which column of a file goes to which of the tables that are drawn for its dialect. */
import { withListTables, type ListTable } from '../../../../engine/sql/list-tables.ts';
import { physicalName } from '../../../../engine/sql/physical-names.ts';
import { physicalTables } from '../../../../engine/sql/physical-model.ts';
import type { Dialect } from '../../../../engine/sql/dialect.ts';
import type { ColumnType, RelationalModel } from '../../../../engine/model/relational-model.ts';
import { columnSqlType } from '../../../sql/duckdb/types.ts';
import { tableColumns } from '../contents/table-columns.ts';
import type { ManifestTable } from '../contents/manifest.ts';

/** A column of a file and where its values go. */
export interface LoadedColumn {
  /** its name in the file */
  readonly source: string;
  /** DuckDB's type of it in the file */
  readonly from: string;
  readonly type: ColumnType;
  /** quoted name of the column that has the values; of a list with a table of its own, its number of items */
  readonly target: string;
  /** the values need a cast: the file was written when the column had another type */
  readonly isCast: boolean;
  /** where the items of a list go, or their number beside the array */
  readonly list: LoadedList | null;
}

export interface LoadedList {
  /** quoted names; null: the column itself holds the items, and `count` is beside it */
  readonly items: { readonly table: string; readonly columns: readonly string[] } | null;
  readonly count: string;
}

export interface FileLoad {
  /** from 1, over all files of the folder */
  readonly number: number;
  /** quoted */
  readonly table: string;
  readonly file: string;
  readonly columns: readonly LoadedColumn[];
}

/** Statements by the moment they run at. */
export interface LoadStatements {
  /** before the transaction, where there is one: what it cannot hold */
  readonly before?: readonly string[];
  readonly load: readonly string[];
  /** behind the transaction */
  readonly after?: readonly string[];
}

/** How the columns of a file lie in the tables that are drawn for the dialect. */
export function filesOf(
  adapted: RelationalModel,
  dialect: Dialect,
): (table: ManifestTable, file: ManifestTable['files'][number], number: number) => FileLoad {
  const { model: drawn, lists } = withListTables(adapted, dialect);
  const physical = physicalTables(drawn, dialect, adapted);
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
    const owner = adapted.tables.findIndex(({ name }) => name === table.name);
    const types = new Map(tableColumns(adapted, table.name).map(({ name, type }) => [name, type]));
    return {
      number,
      table: quoted(table.name),
      file: file.name,
      columns: file.columns.map((source, at) => {
        const type = types.get(source)!;
        const from = file.types![at]!;
        const own = lists.find(
          (list) => list.owner === owner && adapted.tables[owner]!.columns[list.column]!.name === source,
        );
        const list = own === undefined ? null : listOf(own);
        return {
          source,
          from,
          type,
          target: list === null || list.items === null ? quoted(source) : list.count,
          isCast: from !== columnSqlType(type),
          list,
        };
      }),
    };
  };
}

/** A cast to a length cuts text that is longer. */
export function withoutLength(type: ColumnType): ColumnType {
  return type.kind === 'text' ? { kind: 'text', ...(type.list === true ? { list: true } : {}) } : type;
}
