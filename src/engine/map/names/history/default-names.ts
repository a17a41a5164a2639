/**
 * Names that pruned models have from the default of their origin (`RelationalModel.keepsDefaultNames`). The default may have a hundred
 * times as many names as they do, so its names are looked up when a next version is drawn, and not recorded with each model.
 */
import { withOtherParts } from '../../../model/packed/models.ts';
import type { FormerTable, RelationalModel } from '../../../model/relational-model.ts';
import { NameHistory, namesOf, recordedMeanings } from './previous.ts';
import { namespacesOf } from '../use-paths.ts';

/** Returns the model as if it had recorded the names of `standard`, the default of its origin, that it does not have. */
export function withNamesOf(model: RelationalModel, standard: RelationalModel): RelationalModel {
  const history = new NameHistory(standard, recordedMeanings(standard, namespacesOf(model)));
  const pathOf = new Map(model.tables.map(({ name, path }) => [name.toLowerCase(), path]));
  // a default that was drawn later may give this name to another table
  const others = history
    .formerTables(model)
    .filter(({ name, path }) => (pathOf.get(name.toLowerCase()) ?? path) === path)
    .map((table): FormerTable => ({ ...table, hadNoRows: true }));
  return withOtherParts(model, { formerTables: [...(model.formerTables ?? []), ...others] });
}

/** Returns the model without the former names that `standard` has. */
export function withoutNamesOf(model: RelationalModel, standard: RelationalModel): RelationalModel {
  const { formerTables = [], ...rest } = model;
  const known = new Map<string, Set<string>>();
  const add = (table: string, columns: readonly string[]): void => {
    const names = known.get(table);
    if (names === undefined) known.set(table, new Set(columns));
    else for (const name of columns) names.add(name);
  };
  for (const { name, columns } of standard.tables) {
    add(name, columns.flatMap(namesOf));
    for (const { listNames } of columns) if (listNames !== undefined) add(listNames.table, []);
  }
  for (const { name, columns } of standard.formerTables ?? [])
    add(
      name,
      columns.map((column) => column.name),
    );
  const own = formerTables.flatMap((table): FormerTable[] => {
    const names = known.get(table.name);
    const columns = table.columns.filter(({ name }) => names?.has(name) !== true);
    return names !== undefined && columns.length === 0 ? [] : [{ ...table, columns }];
  });
  return { ...rest, ...(own.length === 0 ? {} : { formerTables: own }), keepsDefaultNames: true };
}
