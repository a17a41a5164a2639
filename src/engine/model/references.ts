/** Resolves references by `xs:IDREF` and `xs:IDREFS` to ids, which several tables may have. */
import { lookedAt } from './packed/reader.ts';
import type { Column, RelationalModel, Table } from './relational-model.ts';

/** Indexes of a table and of its column with the ids. */
export interface MeantIds {
  readonly table: number;
  readonly column: number;
}

/** Asked of each reference of a model: its tables are looked through once, when the first is asked for. */
export type MeantIdsOf = (table: Table, column: Column) => readonly MeantIds[];

/** Returns all ids that a column may mean; none if it is not a reference, or if nothing has ids. */
export function meantIdsOf(model: RelationalModel): MeantIdsOf {
  let all: readonly MeantIds[] | undefined;
  return (table, column) => {
    if (column.sourceType !== 'IDREF' && column.sourceType !== 'IDREFS') return [];
    const declared = declaredIds(model, table, column);
    return declared.length > 0 ? declared : (all ??= allIds(model));
  };
}

/** The columns that keyrefs of the XSD name for it. */
function declaredIds(model: RelationalModel, table: Table, column: Column): MeantIds[] {
  const found = new Map<string, MeantIds>();
  const rules = model.identityRules ?? [];
  for (const { kind, refers, tables } of rules) {
    if (kind !== 'keyref' || refers === null) continue;
    const refersHere = tables.some(
      (one) =>
        one.columns.length === 1 &&
        model.tables[one.table]!.name === table.name &&
        table.columns[one.columns[0]!]?.name === column.name,
    );
    if (!refersHere) continue;
    for (const { table: meant, columns } of rules[refers]!.tables)
      if (columns.length === 1) found.set(`${meant}:${columns[0]}`, { table: meant, column: columns[0]! });
  }
  return [...found.values()];
}

/** The columns of the model that have ids. */
export function allIds({ tables }: RelationalModel): readonly MeantIds[] {
  return tables.flatMap((one, table) =>
    lookedAt(one, 'columns').flatMap(({ role, sourceType, type }, column) =>
      role === 'value' && sourceType === 'ID' && type.list !== true ? [{ table, column }] : [],
    ),
  );
}
