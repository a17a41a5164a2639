/** Lists that become text: which of them a job has to draw as columns of text, instead of tables of their items. */
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { columnId } from '../../rows/unfit-columns.ts';
import type { FoundTables } from '../found-tables.ts';
import { drawModel, type DrawnModel } from '../drawn-model.ts';
import { type Publication } from '../publication.ts';
import { foldedName } from './database.ts';

/** A column is text if a value does not fit its type, or if it is a list that an earlier job made text. */
export function drawForRows(
  model: RelationalModel,
  known: FoundTables,
  { widened, nullAllowed }: Pick<Publication<never>, 'widened' | 'nullAllowed'>,
): DrawnModel {
  const asModelled = drawModel(model, sqlite);
  const isTextThere = (table: number, column: number): boolean => {
    const there = known.get(foldedName(asModelled.tables[table]!.name))?.columns;
    const { columns } = asModelled.tables[table]!;
    const name = physicalName(sqlite, model.tables[table]!.columns[column]!.name);
    return (
      there !== undefined && there.has(foldedName(name)) && !there.has(foldedName(columns[column]!.name))
    );
  };
  return drawModel(
    {
      ...model,
      tables: model.tables.map((table, index) => ({
        ...table,
        columns: table.columns.map((column, at) => {
          const id = columnId(index, at);
          const becomesText = widened.has(id) || (column.type.list === true && isTextThere(index, at));
          if (!becomesText && !nullAllowed.has(id)) return column;
          return {
            ...column,
            ...(becomesText ? { type: { kind: 'text' as const } } : {}),
            nullable: column.nullable || nullAllowed.has(id),
          };
        }),
      })),
    },
    sqlite,
  );
}
