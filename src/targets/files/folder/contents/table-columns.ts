/** The columns of tables in a folder. */
import { passed } from '../../../../engine/model/packed/lazy-array.ts';
import { lookedAt } from '../../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../../engine/model/packed/table-names.ts';
import type { ColumnType, RelationalModel } from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../../../engine/model/side-tables.ts';

export interface NamedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** The columns of a table of the model, or of a table beside the data. */
export function tableColumns(model: RelationalModel, table: string): readonly NamedColumn[] {
  const own = tableIndexes(model).get(table);
  if (own !== undefined) return lookedAt(passed(model.tables, own), 'columns');
  return [...Object.values(sideTableDefinitions), codesTable].find((side) => side.name === table)!.columns;
}
