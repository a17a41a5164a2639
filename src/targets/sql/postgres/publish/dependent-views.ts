/** Views that stand in the way of a column that must become wider: told all at once, with what to do. */
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import { relation, type PostgresPublication } from './publication.ts';

/** A column of a table that was there before. */
export interface ColumnChange {
  readonly name: string;
  /** types as `format_type` writes them */
  readonly from: string;
  readonly to: string;
}

/** AppError `conflict` where views use such columns, themselves or by way of other views: the database changes none of them. */
export async function refuseForViews(
  publication: PostgresPublication,
  table: string,
  changes: readonly ColumnChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const names = standardLiteral(JSON.stringify(changes.map(({ name }) => name)));
  const found = await publication.tx.unsafe<{ readonly view: string; readonly column: string }[]>(`
    WITH RECURSIVE standing AS (
      SELECT r.ev_class AS view, a.attname::text AS "column"
        FROM pg_attribute a
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
        JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
       WHERE a.attrelid = ${standardLiteral(relation(publication, table))}::regclass
         AND a.attname IN (SELECT jsonb_array_elements_text(${names}::jsonb))
      UNION
      SELECT r.ev_class, s."column" FROM standing s
        JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = s.view
        JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid AND r.ev_class <> s.view)
    SELECT DISTINCT format('%I.%I', n.nspname, c.relname) AS view, s."column"
      FROM standing s JOIN pg_class c ON c.oid = s.view AND c.relkind IN ('v', 'm') JOIN pg_namespace n ON n.oid = c.relnamespace
     ORDER BY 1`);
  if (found.length === 0) return;
  const views = [...new Set(found.map(({ view }) => view))];
  const columns = changes
    .filter(({ name }) => found.some(({ column }) => column === name))
    .map(({ name, from, to }) => `${table}.${name} from ${from} to ${to}`);
  throw new AppError(
    'conflict',
    `the documents need wider columns (${columns.join(', ')}), which PostgreSQL refuses while views use them: ${views.join(', ')}. ` +
      'Nothing was loaded: drop these views (pg_get_viewdef tells what they are), run the job again, and create them anew.',
  );
}
