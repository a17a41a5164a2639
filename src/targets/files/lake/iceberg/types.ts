/** Types of DuckDB, and what Iceberg calls them in a schema (Iceberg table specification, "Schemas and Data Types"). */
import { typeNames } from '../type-names.ts';
import { isObject } from '../../json.ts';
import type { FieldIds, LakeField } from '../table-format.ts';
import type { IcebergField } from './shape.ts';

const { names, sqlTypeOf } = typeNames(
  { INTEGER: 'int', TIMESTAMP: 'timestamp', 'TIMESTAMP WITH TIME ZONE': 'timestamptz' },
  (type) => (isObject(type) && type['type'] === 'list' ? type['element'] : undefined),
);

/** There are no short numbers, and times of day are text, as Spark reads no table that has them. */
export function storedType(sqlType: string): string {
  return sqlType.replace(/^(?:TIME|SMALLINT)(?=$|\[)/, (type) => (type === 'TIME' ? 'VARCHAR' : 'INTEGER'));
}

/** `ids`: of the column, and of the items of a list. */
export function icebergType(sqlType: string, [, item]: readonly [number, number?]): unknown {
  if (sqlType.endsWith('[]'))
    return {
      type: 'list',
      'element-id': item,
      element: icebergType(sqlType.slice(0, -2), [0]),
      'element-required': false,
    };
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(sqlType);
  return decimal === null ? names[sqlType] : `decimal(${decimal[1]}, ${decimal[2]})`;
}

/** Files with the first type are read as the second one ("Schema Evolution"). */
export function promotes(from: string, to: string): boolean {
  if (from === 'FLOAT' && to === 'DOUBLE') return true;
  const [ours, theirs] = [from, to].map((type) => /^DECIMAL\((\d+),(\d+)\)$/.exec(type));
  return ours?.[2] !== undefined && ours[2] === theirs?.[2] && Number(ours[1]) <= Number(theirs[1]);
}

export function lakeFieldOf(field: IcebergField, keys: readonly number[]): LakeField {
  const { id, name, type, required, doc = '' } = field;
  return {
    name,
    sqlType: sqlTypeOf(type),
    nullable: !required,
    comment: doc,
    isKey: keys.includes(id),
    stored: { ...field },
  };
}

/** Columns keep their numbers while values in older files are read as what they are; others have new ones, after `lastId`. */
export function numbered(
  before: readonly LakeField[],
  lastId: number,
  fields: readonly LakeField[],
): { readonly ids: FieldIds; readonly lastId: number } {
  const known = new Map(before.map((field) => [field.name, field]));
  const ids: Record<string, readonly [number, number?]> = {};
  let last = lastId;
  // items after all columns, as catalogues number those of a new table
  const lists: string[] = [];
  for (const { name, sqlType } of fields) {
    const there = known.get(name);
    const stored = there?.stored as unknown as IcebergField | undefined;
    const isKept =
      stored !== undefined && (there!.sqlType === sqlType || promotes(there!.sqlType ?? '', sqlType ?? ''));
    const item = isObject(stored?.type) ? Number(stored.type['element-id']) : undefined;
    if (isKept) ids[name] = item === undefined || Number.isNaN(item) ? [stored.id] : [stored.id, item];
    else {
      ids[name] = [(last += 1)];
      if (sqlType?.endsWith('[]') === true) lists.push(name);
    }
  }
  for (const name of lists) ids[name] = [ids[name]![0], (last += 1)];
  return { ids, lastId: last };
}
