/** Types of DuckDB, as `duckdb_columns()` writes them, and what Delta calls them in a schema. */

/** The JSON of a type in a schema: a name, or an object for what is nested. */
export type DeltaType = string | { readonly type: string; readonly [member: string]: unknown };

const names: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  BOOLEAN: 'boolean',
  SMALLINT: 'short',
  INTEGER: 'integer',
  BIGINT: 'long',
  FLOAT: 'float',
  DOUBLE: 'double',
  DATE: 'date',
  TIMESTAMP: 'timestamp_ntz',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
};
const sqlTypes: ReadonlyMap<string, string> = new Map(
  Object.entries(names).map(([sql, name]) => [name, sql]),
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

/** Null for a type that no load makes: somebody else's column. */
export function sqlTypeOf(type: DeltaType): string | null {
  if (typeof type === 'string') {
    const decimal = /^decimal\((\d+), ?(\d+)\)$/.exec(type);
    return decimal === null ? (sqlTypes.get(type) ?? null) : `DECIMAL(${decimal[1]},${decimal[2]})`;
  }
  const item = type.type === 'array' ? sqlTypeOf(type['elementType'] as DeltaType) : null;
  return item === null || item.endsWith('[]') ? null : `${item}[]`;
}
