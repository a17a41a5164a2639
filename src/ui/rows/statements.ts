/** Composes the SELECT statements that sort and filter the rows of a table, in the SQL of its target. */

/** `postgresql` for `metadb:`, `sqlite` for `sqlite:`, `duckdb` for `duckdb:` and folders */
export type TargetSql = 'postgresql' | 'sqlite' | 'duckdb';

export type Comparison = 'contains' | '=' | '<>' | '>=' | '<=' | 'null' | 'not null';

export interface Condition {
  readonly column: string;
  readonly comparison: Comparison;
  /** '' for `null` and `not null` */
  readonly value: string;
}

export interface ShownOrder {
  readonly column: string;
  readonly descending: boolean;
}

export interface RowSelection {
  readonly table: string;
  readonly conditions: readonly Condition[];
  readonly order: ShownOrder | null;
  /** columns of the row key, which decide between rows that the order leaves equal */
  readonly key: readonly string[];
  /** columns of decimals: SQLite keeps the digits of long ones as text, which it would compare letter by letter */
  readonly decimals: readonly string[];
}

/** Returns null for a target that the service does not read. */
export function sqlOf(target: string): TargetSql | null {
  const [, scheme = ''] = /^([a-z][a-z0-9+.-]+):/i.exec(target) ?? [];
  if (scheme === 'metadb') return 'postgresql';
  if (scheme === 'sqlite') return 'sqlite';
  return scheme === 'duckdb' || scheme === '' ? 'duckdb' : null;
}

export function pageStatement(
  sql: TargetSql,
  selection: RowSelection,
  { page, size }: { readonly page: number; readonly size: number },
): string {
  const { order, key } = selection;
  const direction = order?.descending === true ? 'desc' : 'asc';
  const sorted =
    order === null ? [] : [`${comparable(sql, selection, order.column)} ${direction} nulls last`];
  const rest = key.filter((name) => name !== order?.column).map(quoted);
  const by = [...sorted, ...rest].join(', ');
  return [
    `select * ${fromWhere(sql, selection)}`,
    ...(by === '' ? [] : [`order by ${by}`]),
    `limit ${size} offset ${page * size}`,
  ].join('\n');
}

export function countStatement(sql: TargetSql, selection: RowSelection): string {
  return `select count(*) ${fromWhere(sql, selection)}`;
}

/** All three databases quote names alike. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The column as the database has to see it for an order among its values. */
function comparable(sql: TargetSql, { decimals }: RowSelection, column: string): string {
  const name = quoted(column);
  return sql === 'sqlite' && decimals.includes(column) ? `cast(${name} as real)` : name;
}

function fromWhere(sql: TargetSql, selection: RowSelection): string {
  const { table, conditions } = selection;
  const where = conditions.map((one) => conditionText(sql, selection, one)).join('\n  and ');
  return `from ${quoted(table)}${where === '' ? '' : `\nwhere ${where}`}`;
}

function conditionText(
  sql: TargetSql,
  selection: RowSelection,
  { column, comparison, value }: Condition,
): string {
  const name = quoted(column);
  switch (comparison) {
    case 'null':
      return `${name} is null`;
    case 'not null':
      return `${name} is not null`;
    case 'contains': {
      // backslashes mean something in some literals, so another character escapes
      const pattern = literal(`%${value.replaceAll(/[!%_]/g, '!$&')}%`);
      return `cast(${name} as ${sql === 'duckdb' ? 'varchar' : 'text'}) ${sql === 'sqlite' ? 'like' : 'ilike'} ${pattern} escape '!'`;
    }
    default: {
      const compared = comparable(sql, selection, column);
      const given = compared === name ? literal(value) : `cast(${literal(value)} as real)`;
      return `${compared} ${comparison} ${given}`;
    }
  }
}

/** A text that each of the databases converts to the type of the column it is compared with. */
function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
