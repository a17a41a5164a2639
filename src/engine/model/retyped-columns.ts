/** Models with some columns of other types than in the stored model. */
import { lazyArray, memberOf, peekElement } from './packed/reader.ts';
import { withOtherColumns, withOtherParts } from './packed/models.ts';
import type { ColumnType, RelationalModel, Table } from './relational-model.ts';

/** Names a column of a model in a set. */
export function placeOf(table: number, column: number): string {
  return `${table}:${column}`;
}

/** Returns the model with other kinds of types in the columns of these places (`placeOf`). */
export function withKinds<T>(
  model: RelationalModel,
  places: ReadonlyMap<string, T>,
  kindOf: (place: T) => ColumnType['kind'],
): RelationalModel {
  if (places.size === 0) return model;
  const touched = new Set([...places.keys()].map((place) => Number(place.split(':', 1)[0])));
  const { tables } = model;
  const make = (at: number): Table => {
    if (!touched.has(at)) return tables[at]!;
    return withOtherColumns(peekElement(tables, at), (columns) =>
      columns.map((column, index) => {
        const place = places.get(placeOf(at, index));
        return place === undefined ? column : { ...column, type: { ...column.type, kind: kindOf(place) } };
      }),
    );
  };
  const retyped = lazyArray(tables.length, make, (at, key) =>
    key === 'columns' ? make(at).columns : memberOf(tables, at, key as keyof Table),
  );
  return withOtherParts(model, { tables: retyped });
}
