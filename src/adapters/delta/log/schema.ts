/** The schema of a Delta table: fields with their types, comments, and whether they may be NULL. */
import { AppError } from '../../../errors.ts';
import { isList, isObject, parsed } from '../../folder/contents/manifest.ts';
import { deltaType, type DeltaType } from './types.ts';

/** A column as a load makes it. */
export interface LakeColumn {
  readonly name: string;
  /** of DuckDB, one that Delta has */
  readonly sqlType: string;
  readonly nullable: boolean;
  readonly comment: string;
}

export interface Field {
  readonly name: string;
  readonly type: DeltaType;
  readonly nullable: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function fieldOf({ name, sqlType, nullable, comment }: LakeColumn): Field {
  return { name, type: deltaType(sqlType), nullable, metadata: comment === '' ? {} : { comment } };
}

export function schemaStringOf(fields: readonly Field[]): string {
  return JSON.stringify({ type: 'struct', fields });
}

export function fieldsOf(schemaString: string): readonly Field[] {
  const schema = parsed<{ fields?: unknown }>(schemaString);
  if (
    isObject(schema) &&
    isList(schema['fields'], (field) => isObject(field) && typeof field['name'] === 'string')
  )
    return schema['fields'] as Field[];
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
  const known = new Set<string>();
  for (const name of names) {
    if (known.has(name.toLowerCase()))
      throw new AppError(
        'invalid_option',
        `-f delta: ${table} has two columns called "${name}" but for the case of letters, which most readers of Delta take for one; give one of them another name.`,
      );
    known.add(name.toLowerCase());
  }
}
