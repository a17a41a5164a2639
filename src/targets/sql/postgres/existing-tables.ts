/** Reads the existing objects of a target: its tables, their columns, keys and time zones, and the objects that depend on them. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { postgresql } from '../../../engine/sql/dialects/postgresql.ts';
import { checkMark } from '../../../engine/sql/code-lists.ts';
import { codesTable, sideTableNames } from '../../../engine/model/side-tables.ts';
import { viewMark } from '../../rows/made-views.ts';
import { zonesOf, type FoundColumn, type FoundTable } from '../found-tables.ts';
import type { Sql, TransactionSql } from '../../../postgres/connect.ts';
import type { ExistingZones, ZoneTable } from '../../../ports/row-sink.ts';

/** A column whose type is written as by `format_type`. */
interface TargetColumn extends FoundColumn {
  type: string;
}

interface TargetForeignKey {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  /** it may be checked at the end of a transaction */
  readonly deferrable: boolean;
}

export interface TargetTable extends FoundTable {
  readonly columns: Map<string, TargetColumn>;
  /** nothing would be lost if it were dropped and made again: no views, grants, triggers, policies, indexes of others … */
  readonly plain: boolean;
  /** functions of its owner may run on data that is written into it, or row security hides rows of it from this login */
  readonly hasOwnCode: boolean;
  /** other tables with foreign keys to it */
  readonly referredToBy: readonly string[];
}

/** A view that a load made and that its loader owns. */
export interface OwnView {
  readonly name: string;
  readonly comment: string;
  /** the view's options in the form of `WITH`; '': none */
  readonly options: string;
  /** statements that give others the rights that they have on it */
  readonly grants: readonly string[];
  /** nothing depends on it: it may be dropped and made again */
  readonly isFree: boolean;
}

/** A check of the codes of a column that a load made. */
export interface OwnCheck {
  readonly name: string;
  readonly table: string;
  readonly column: string;
  readonly comment: string;
}

export interface ExistingTarget {
  readonly schemaExists: boolean;
  /** tables made in the schema get grants of their own, which a table moved there would lack */
  readonly hasDefaultGrants: boolean;
  readonly mayCreateSchemas: boolean;
  /** functions of a superuser run when tables are made and altered */
  readonly hasEventTriggers: boolean;
  /** the requested tables that exist; views that loads made are no obstacle and are left out */
  readonly tables: Map<string, TargetTable>;
  foreignKeys: TargetForeignKey[];
  /**
   * options of a view that is created for the first time: its readers need the rights that its tables require, if the server supports such
   * views
   */
  readonly newViewOptions: string;
  /** all of the SQL schema, by name */
  readonly views: ReadonlyMap<string, OwnView>;
  /** the checks of the tables above */
  checks: readonly OwnCheck[];
  /** `_codes`: made by a load, another object, or absent */
  readonly codes: 'ours' | 'other' | null;
}

/** Comment of an index that a load made: a table with no other indexes may be dropped and made again. */
export const keyIndexMark = 'made by the load, for rows by their key';

/**
 * Returns a query for the views of an SQL schema (a literal) that loads made: `rule` is their definition, and `free` says whether nothing
 * depends on them.
 */
export function ownViews(schema: string): string {
  return `SELECT v.oid, r.oid AS rule, v.relname, v.reloptions, v.relacl, v.relowner,
                 obj_description(v.oid, 'pg_class') AS comment,
                 NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = v.oid AND a.attacl IS NOT NULL)
                   AND NOT EXISTS (SELECT FROM pg_depend d
                     WHERE d.deptype IN ('n', 'a') AND NOT (d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid)
                       AND ((d.refclassid = 'pg_class'::regclass AND d.refobjid = v.oid)
                         OR (d.refclassid = 'pg_type'::regclass AND d.refobjid = v.reltype))) AS free
            FROM pg_class v JOIN pg_namespace n ON n.oid = v.relnamespace
            JOIN pg_rewrite r ON r.ev_class = v.oid AND r.rulename = '_RETURN'
           WHERE n.nspname = ${schema} AND v.relkind = 'v' AND pg_get_userbyid(v.relowner) = current_user
             AND right(obj_description(v.oid, 'pg_class'), ${viewMark.length}) = ${standardLiteral(viewMark)}`;
}

interface TableRow {
  readonly oid: number;
  readonly name: string;
  readonly kind: string;
  readonly bare: boolean;
  readonly code: boolean;
  readonly others: string[] | null;
}

/** `comments`: whether comments of columns are read, which takes time if there are thousands of tables. */
export async function readTarget(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  names: readonly string[],
  comments: 'read' | 'skip' = 'skip',
): Promise<ExistingTarget> {
  const schema = standardLiteral(sqlSchema);
  // a temporary table needs rights; names are sent as one literal instead
  const wanted = `wanted AS MATERIALIZED (
    SELECT c.oid, c.relname, c.relkind, c.relacl, c.relowner, c.relrowsecurity, c.relispartition
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = ${schema} AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'i')
       AND c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(names))}::jsonb)))`;
  const results = await sql.unsafe<
    [
      {
        schemas: number;
        grants: boolean;
        creator: boolean;
        events: boolean;
        invoker: boolean;
        codes: string | null;
      }[],
      TableRow[],
      (TargetColumn & { oid: number })[],
      TargetForeignKey[],
      OwnView[],
      OwnCheck[],
    ]
  >(`
    SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = ${schema})::int AS schemas,
           EXISTS (SELECT FROM pg_default_acl a JOIN pg_namespace n ON n.oid = a.defaclnamespace
                    WHERE n.nspname = ${schema} AND a.defaclobjtype = 'r' AND a.defaclrole::regrole::text = quote_ident(current_user)) AS grants,
           has_database_privilege(current_database(), 'CREATE') AS creator,
           EXISTS (SELECT FROM pg_event_trigger WHERE evtenabled <> 'D') AS events,
           current_setting('server_version_num')::int >= 150000 AS invoker,
           (SELECT CASE WHEN c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = ${standardLiteral(codesTable.comment)} THEN 'ours' ELSE 'other' END
              FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = ${schema} AND c.relname = ${standardLiteral(codesTable.name)}) AS codes;
    WITH ${wanted}, own AS MATERIALIZED (${ownViews(schema)})
    SELECT t.oid::int8, t.relname AS name, t.relkind::text AS kind,
           (SELECT json_agg(DISTINCT k.conrelid::regclass::text) FROM pg_constraint k
             WHERE k.contype = 'f' AND k.confrelid = t.oid AND k.conrelid NOT IN (SELECT oid FROM wanted)) AS others,
           EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t.oid AND NOT g.tgisinternal)
             OR EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = t.oid AND w.rulename <> '_RETURN')
             OR EXISTS (SELECT FROM pg_constraint c WHERE c.conrelid = t.oid AND c.contype = 'c')
             OR EXISTS (SELECT FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid
                         WHERE a.attrelid = t.oid AND NOT a.attisdropped AND d.typtype = 'd')
             OR EXISTS (SELECT FROM pg_attrdef d WHERE d.adrelid = t.oid)
             OR EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL))
             OR EXISTS (SELECT FROM pg_inherits h WHERE h.inhparent = t.oid)
             OR row_security_active(t.oid) AS code,
           t.relkind = 'r' AND (t.relacl IS NULL OR t.relacl = acldefault('r', t.relowner)) AND NOT t.relrowsecurity AND NOT t.relispartition
             AND pg_get_userbyid(t.relowner) = current_user
             AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attacl IS NOT NULL)
             AND NOT EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = t.oid AND NOT g.tgisinternal)
             AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = t.oid)
             AND NOT EXISTS (SELECT FROM pg_publication_rel p WHERE p.prrelid = t.oid)
             AND NOT EXISTS (SELECT FROM pg_inherits i WHERE t.oid IN (i.inhrelid, i.inhparent))
             AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = t.oid AND NOT EXISTS (
                   SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.conrelid = t.oid)
                   AND obj_description(i.indexrelid, 'pg_class') IS DISTINCT FROM ${standardLiteral(keyIndexMark)})
             AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
                   AND d.deptype = 'n' AND d.classid <> 'pg_constraint'::regclass
                   AND NOT (d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT rule FROM own WHERE free))) AS bare
      FROM wanted t WHERE t.oid NOT IN (SELECT oid FROM own WHERE free);
    WITH ${wanted}
    SELECT a.attrelid::int8 AS oid, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
           a.attnotnull AS "notNull", a.atthasdef AS "hasDefault", ${comments === 'read' ? 'col_description(a.attrelid, a.attnum)' : 'NULL'} AS comment
      FROM pg_attribute a JOIN wanted t ON t.oid = a.attrelid WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY 1, a.attnum;
    WITH ${wanted}
    SELECT k.conname AS name, t.relname AS table, p.relname AS parent, a.attname AS column, k.condeferrable AS deferrable
      FROM pg_constraint k JOIN wanted t ON t.oid = k.conrelid JOIN wanted p ON p.oid = k.confrelid
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
     WHERE k.contype = 'f' AND array_length(k.conkey, 1) = 1;
    SELECT v.relname AS name, v.comment, coalesce(array_to_string(v.reloptions, ', '), '') AS options,
           v.free AS "isFree", (SELECT coalesce(json_agg(format('GRANT %s ON %s TO %s%s', g.privilege_type, v.oid::regclass,
                               CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END,
                               CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)), '[]')
                   FROM aclexplode(v.relacl) g WHERE g.grantee <> v.relowner) AS grants
      FROM (${ownViews(schema)}) v;
    WITH ${wanted}
    SELECT k.conname AS name, t.relname AS table, a.attname AS column, obj_description(k.oid, 'pg_constraint') AS comment
      FROM pg_constraint k JOIN wanted t ON t.oid = k.conrelid
      JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
     WHERE k.contype = 'c' AND right(obj_description(k.oid, 'pg_constraint'), ${checkMark.length}) = ${standardLiteral(checkMark)}`);
  const [[facts], tables, columns, foreignKeys, views, checks] = results;
  const columnsOf = Map.groupBy(columns, (column) => column.oid);
  return {
    schemaExists: facts!.schemas > 0,
    hasDefaultGrants: facts!.grants,
    mayCreateSchemas: facts!.creator,
    hasEventTriggers: facts!.events,
    tables: new Map(
      tables.map(({ oid, name, kind, bare, code, others }) => [
        name,
        {
          name,
          isView: kind !== 'r' && kind !== 'p',
          comment: null,
          statement: null,
          madeView: null,
          plain: bare && others === null,
          hasOwnCode: code,
          referredToBy: others ?? [],
          columns: new Map((columnsOf.get(oid) ?? []).map((column) => [column.name, { ...column }])),
        },
      ]),
    ),
    foreignKeys: [...foreignKeys],
    newViewOptions: facts!.invoker ? 'security_invoker=true' : '',
    views: new Map(views.map((view) => [view.name, view])),
    checks: [...checks],
    codes: facts!.codes as ExistingTarget['codes'],
  };
}

/** Returns, by physical table name, the highest key that was given. Counters beyond 2^53 are left out. */
export async function readCounters(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  { tables }: ExistingTarget,
): Promise<ReadonlyMap<string, number>> {
  if (!tables.has(sideTableNames.keys)) return new Map();
  const rows = await sql.unsafe<{ name: string; key: number }[]>(
    `SELECT table_name AS name, last_value AS key FROM ${doubleQuoted(sqlSchema)}.${doubleQuoted(sideTableNames.keys)}`,
  );
  return new Map(rows.flatMap(({ name, key }) => (Number.isSafeInteger(key) ? [[name, key] as const] : [])));
}

/** Implements `RowSink.existingZones`. */
export async function readZones(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  tables: readonly ZoneTable[],
): Promise<ExistingZones> {
  const rows = await sql.unsafe<{ table: string; column: string; zoned: boolean }[]>(`
    SELECT c.relname AS table, a.attname AS column, t.typname LIKE '%timestamptz' AS zoned
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped JOIN pg_type t ON t.oid = a.atttypid
     WHERE c.relkind IN ('r', 'p') AND t.oid IN ('timestamp'::regtype, 'timestamptz'::regtype, 'timestamp[]'::regtype, 'timestamptz[]'::regtype)`);
  const existingTables = new Set(rows.map(({ table }) => table));
  const zoned = new Map(rows.map((row) => [JSON.stringify([row.table, row.column]), row.zoned]));
  return zonesOf({ dialect: postgresql, foldedName: (name) => name }, tables, {
    hasTable: (table) => existingTables.has(table),
    isZoned: (table, column) => zoned.get(JSON.stringify([table, column])) ?? null,
    hasValues: (table, column) => hasValues(sql, sqlSchema, table, column),
  });
}

/** Returns whether a row has a value in the column. */
export async function hasValues(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  table: string,
  column: string,
): Promise<boolean> {
  const rows = await sql.unsafe(
    `SELECT FROM ${doubleQuoted(sqlSchema)}.${doubleQuoted(table)} WHERE ${doubleQuoted(column)} IS NOT NULL LIMIT 1`,
  );
  return rows.length > 0;
}
