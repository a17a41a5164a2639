/** The schema of a Delta table: fields with their types, comments, and whether they may be NULL. */
import { checkCase, typeNames } from '../type-names.ts';
import { AppError } from '../../../../errors.ts';
import { isList, isObject, parsed } from '../../json.ts';
import type { LakeField } from '../table-format.ts';

/** The JSON of a type in a schema: a name, or an object for what is nested. */
export type DeltaType = string | { readonly type: string; readonly [member: string]: unknown };

const { names, sqlTypeOf } = typeNames(
  {
    SMALLINT: 'short',
    INTEGER: 'integer',
    TIMESTAMP: 'timestamp_ntz',
    'TIMESTAMP WITH TIME ZONE': 'timestamp',
  },
  (type) => (isObject(type) && type['type'] === 'array' ? type['elementType'] : undefined),
);

/** What a column of a Delta table is made of for one of that type: there are no times of day, which are text then. */
export function storedType(sqlType: string): string {
  return sqlType === 'TIME' ? 'VARCHAR' : sqlType === 'TIME[]' ? 'VARCHAR[]' : sqlType;
}

export function deltaType(sqlType: string): DeltaType {
  if (sqlType.endsWith('[]'))
    return { type: 'array', elementType: deltaType(sqlType.slice(0, -2)), containsNull: true };
  return names[sqlType] ?? sqlType.toLowerCase();
}

export function schemaStringOf(fields: readonly LakeField[]): string {
  return JSON.stringify({ type: 'struct', fields: fields.map(storedField) });
}

function storedField({ name, sqlType, nullable, comment, stored }: LakeField): unknown {
  if (stored === undefined)
    return { name, type: deltaType(sqlType!), nullable, metadata: comment === '' ? {} : { comment } };
  const metadata = isObject(stored['metadata']) ? stored['metadata'] : {};
  const type = stored['type'] as DeltaType;
  return {
    ...stored,
    type: sqlType === null || sqlTypeOf(type) === sqlType ? type : deltaType(sqlType),
    nullable,
    metadata: 'comment' in metadata || comment === '' ? metadata : { ...metadata, comment },
  };
}

/** A column in the log. */
export interface DeltaField {
  readonly name: string;
  readonly type: DeltaType;
  readonly nullable: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function lakeFieldOf(field: DeltaField): LakeField {
  const { name, type, nullable, metadata } = field;
  const comment = metadata?.['comment'];
  return {
    name,
    sqlType: sqlTypeOf(type),
    nullable,
    comment: typeof comment === 'string' ? comment : '',
    isKey: false,
    stored: { ...field },
  };
}

export function fieldsOf(schemaString: string): readonly DeltaField[] {
  const schema = parsed<{ fields?: unknown }>(schemaString);
  if (
    isObject(schema) &&
    isList(schema['fields'], (field) => isObject(field) && typeof field['name'] === 'string')
  )
    return schema['fields'] as DeltaField[];
  throw new AppError('conflict', 'The schema in the log of a Delta table cannot be read.');
}

/** Delta has no columns of such names without a mapping of names, which few readers know. */
export function checkColumnNames(table: string, names: readonly string[]): void {
  const wrong = names.find((name) => /[ ,;{}()\n\t=]/.test(name));
  if (wrong !== undefined)
    throw new AppError(
      'invalid_option',
      `-f delta: ${table} has a column called "${wrong}", and columns of Delta have none of the characters space , ; { } ( ) = in their names; give it another name.`,
    );
  checkCase('delta', table, names);
}
