/** Creates views of the rows of documents that no other one has replaced: one for each table, `TABLE_current`. */
import { structureWord } from '../map/names/identifiers.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import { fileKeyName, sideTableNames } from '../model/side-tables.ts';
import { qualified, type Dialect } from '../sql/dialect.ts';
import { modelName, physicalName } from '../sql/physical-model.ts';
import type { CreatedView } from './create-view.ts';

export interface CurrentRowsOptions {
  readonly dialect: Dialect;
  readonly sqlSchema: string | null;
  /** columns that the table has, as the database names them; null: it is not there */
  readonly columnsOf: (table: number) => readonly string[] | null;
}

export function currentViews(
  model: RelationalModel,
  { dialect, sqlSchema, columnsOf }: CurrentRowsOptions,
): readonly CreatedView[] {
  const quoted = (name: string): string => dialect.quote(name);
  const relation = (table: string): string =>
    qualified(dialect, { sqlSchema, table: physicalName(dialect, table) });
  const taken = new Set(model.tables.map(({ name }) => physicalName(dialect, name).toLowerCase()));
  const word = structureWord('current', model.options?.nameMode ?? 'l');
  return model.tables.flatMap((table, index): CreatedView[] => {
    const columns = columnsOf(index);
    const key = table.columns.find(({ role }) => role === 'document');
    if (columns === null || key === undefined) return [];
    let wanted = `${table.name}_${word}`;
    let name = physicalName(dialect, modelName(model, wanted));
    for (; taken.has(name.toLowerCase()); name = physicalName(dialect, modelName(model, wanted)))
      wanted += '_';
    taken.add(name.toLowerCase());
    const query = `SELECT ${columns.map((column) => `r.${quoted(column)}`).join(', ')}
FROM ${relation(table.name)} r
JOIN ${relation(sideTableNames.documents)} d ON d.${quoted(fileKeyName)} = r.${quoted(physicalName(dialect, key.name))}
WHERE d.${quoted('valid_to')} IS NULL`;
    return [
      {
        name,
        comment: `Rows of ${table.name} of documents that no other one has replaced.`,
        query,
        statements: [`CREATE VIEW ${qualified(dialect, { sqlSchema, table: name })} AS\n${query}`],
      },
    ];
  });
}
