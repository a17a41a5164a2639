/** The names of types in the schemas of tables: those that Delta and Iceberg share, and those of each format. */
import { AppError } from '../../../errors.ts';

/** DuckDB types, and their names in both formats. */
const shared = {
  VARCHAR: 'string',
  BOOLEAN: 'boolean',
  BIGINT: 'long',
  FLOAT: 'float',
  DOUBLE: 'double',
  DATE: 'date',
};

interface TypeNames {
  /** The format's names, by DuckDB type. */
  readonly names: Readonly<Record<string, string>>;
  /** Returns the DuckDB type; null for a type that no load makes: another program's column. */
  sqlTypeOf(type: unknown): string | null;
}

/** `own`: the format's names by DuckDB type. `itemOf`: returns the type of the items of a list, or undefined if the type is no list. */
export function typeNames(
  own: Readonly<Record<string, string>>,
  itemOf: (type: unknown) => unknown,
): TypeNames {
  const names = { ...shared, ...own };
  const sqlTypes = new Map(Object.entries(names).map(([sql, name]) => [name, sql]));
  const sqlTypeOf = (type: unknown): string | null => {
    if (typeof type === 'string') {
      const decimal = /^decimal\((\d+), ?(\d+)\)$/.exec(type);
      return decimal === null ? (sqlTypes.get(type) ?? null) : `DECIMAL(${decimal[1]},${decimal[2]})`;
    }
    const item = itemOf(type);
    const sqlType = item === undefined ? null : sqlTypeOf(item);
    return sqlType === null || sqlType.endsWith('[]') ? null : `${sqlType}[]`;
  };
  return { names, sqlTypeOf };
}

/** AppError `invalid_option` for a table with two columns whose names differ only in case, because readers treat them as equal. */
export function checkCase(format: 'delta' | 'iceberg', table: string, names: readonly string[]): void {
  const known = new Set<string>();
  for (const name of names) {
    if (known.has(name.toLowerCase()))
      throw new AppError(
        'invalid_option',
        `-f ${format}: ${table} has two columns called "${name}" but for the case of letters, which most readers of ${format === 'delta' ? 'Delta' : 'Iceberg'} take for one; give one of them another name.`,
      );
    known.add(name.toLowerCase());
  }
}
