/**
 * Makes views of business entities (`--views`) in the transaction that publishes. Only views that loads made are changed: their comment
 * ends with a mark, and they belong to their loader. A view that nothing depends on blocks no change, and no fault of a view fails a load.
 */
import { sqlState } from '../../../postgres/connect.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import { markedComment, type LoadView } from '../../rows/made-views.ts';
import { viewsOfModel, type ViewTypes } from '../views.ts';
import { runAll } from './driver.ts';
import { ownViews, readTarget, type OwnView } from './existing-tables.ts';
import { relation, type PostgresPublication } from './publication.ts';
import { isOfType } from './types.ts';

/**
 * errors by which a definition can be refused: its text, names in use, objects that depend on it, its size, and locks that others hold too
 * long
 */
const refusals = /^(?:0A|22|2B|42|54)|^55P03$/;

/** Drops the views of loads that use these tables (physical names), so that these can be changed; `publishViews` makes them again. */
export async function setViewsAside(
  publication: PostgresPublication,
  tables: readonly string[],
): Promise<void> {
  const { tx, target, sqlSchema, viewsAside } = publication;
  if (target.views.size === viewsAside.size) return;
  const schema = standardLiteral(sqlSchema);
  const using = await tx.unsafe<{ name: string; query: string }[]>(`
    SELECT v.relname AS name, pg_get_viewdef(v.oid) AS query FROM (${ownViews(schema)}) v
     WHERE v.free AND EXISTS (SELECT FROM pg_depend d JOIN pg_class t ON d.refclassid = 'pg_class'::regclass AND t.oid = d.refobjid
                     JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = ${schema}
                    WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = v.rule
                      AND t.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(tables))}::jsonb)))`);
  for (const { name, query } of using) {
    const view = target.views.get(name);
    if (view === undefined) continue;
    await tx.unsafe(`DROP VIEW ${relation(publication, name)}`);
    viewsAside.set(name, definition(publication, view, query.trim().replace(/;$/, '')));
  }
}

/** Drops views of loads whose names tables of this model need; the views get other names. */
export async function dropViewsOfNames(publication: PostgresPublication): Promise<void> {
  const { tx, plan, target, tables, viewsAside, changes } = publication;
  const names = tables.map(({ name }) => name).filter((name) => target.views.get(name)?.isFree === true);
  await runAll(
    tx,
    names.map((name) => `DROP VIEW ${relation(publication, name)}`),
  );
  for (const name of names) {
    viewsAside.set(name, []);
    if (plan.views !== true)
      changes.push(`${name}: view dropped, a table has its name now: --views makes it under another`);
  }
}

/** Makes those that are wanted, over the tables and columns that are there now, and again those that were dropped. */
export async function publishViews(publication: PostgresPublication): Promise<void> {
  const { tx, sqlSchema, plan, tables, target, viewsAside, changes } = publication;
  if (plan.views !== true && !publication.merge.keepsHistory && target.views.size === 0) return;
  const made: string[] = [];
  const names = [...tables.map(({ name }) => name), sideTableNames.documents];
  const { tables: known } = await readTarget(tx, sqlSchema, names, 'read');
  for (const view of await viewsOfModel({ ...publication, known }, viewTypes)) {
    const known = viewsAside.get(view.name)?.length === 0 ? undefined : target.views.get(view.name);
    if (known === undefined && !view.isWanted) continue;
    const isThere = known !== undefined && !viewsAside.has(view.name);
    viewsAside.delete(view.name);
    const comment = await markedComment(view);
    if (isThere && known.comment === comment) continue;
    const statements = viewStatements(publication, view, comment);
    const refused = await makeView(publication, statements, isThere ? known : null);
    if (refused === null) made.push(view.name);
    else if (known === undefined && ['42P07', '42710'].includes(refused.state))
      changes.push(`${view.name}: not made as a view, no load made what has this name`);
    else if (isThere) changes.push(`${view.name}: the view stays as it was: ${refused.why}`);
    else changes.push(`${view.name}: no view could be made: ${refused.why}`);
  }
  if (made.length > 0) changes.push(`views made: ${made.join(', ')}`);
  for (const [name, statements] of viewsAside) {
    if (statements.length === 0) continue;
    const refused = await makeView(publication, statements, null);
    if (refused !== null)
      changes.push(`${name}: view dropped, as it does not fit its tables any more: ${refused.why}`);
  }
}

/** Returns statements that make a view, with the options and rights of an existing one of its name. */
export function viewStatements(
  publication: PostgresPublication,
  { name, query }: LoadView,
  comment: string,
): readonly string[] {
  const { views, newViewOptions: options } = publication.target;
  return definition(publication, { grants: [], options, ...views.get(name), name, comment }, query);
}

/** Returns why the server refuses a view, or null for a fault of another kind. */
export function viewRefusal(error: unknown): string | null {
  return refusals.test(sqlState(error) ?? '') ? (error as Error).message : null;
}

interface Refused {
  readonly state: string;
  readonly why: string;
}

/**
 * Makes a view, and returns null if that succeeds. An existing view is replaced if its columns stay, so that objects that depend on it may
 * stay; otherwise it is dropped and made again.
 */
async function makeView(
  publication: PostgresPublication,
  [create, ...others]: readonly string[],
  replaced: OwnView | null,
): Promise<Refused | null> {
  const attempt = async (statement: string): Promise<Refused | null> => {
    try {
      await publication.tx.savepoint((savepoint) => runAll(savepoint, [statement, ...others]));
      return null;
    } catch (error) {
      const why = viewRefusal(error);
      if (why === null) throw error;
      return { state: sqlState(error)!, why };
    }
  };
  if (replaced === null) return attempt(create!);
  const refused = await attempt(create!.replace('CREATE VIEW', 'CREATE OR REPLACE VIEW'));
  // invalid_table_definition: its columns differ
  return refused?.state === '42P16' && replaced.isFree
    ? attempt(`DROP VIEW ${relation(publication, replaced.name)};\n${create}`)
    : refused;
}

/** Returns statements for the view, its comment, and the rights on it. */
function definition(
  publication: PostgresPublication,
  { name, comment, options, grants }: Omit<OwnView, 'isFree'>,
  query: string,
): readonly string[] {
  const view = relation(publication, name);
  return [
    `CREATE VIEW ${view}${options === '' ? '' : ` WITH (${options})`} AS\n${query}`,
    `COMMENT ON VIEW ${view} IS ${standardLiteral(comment)}`,
    ...grants,
  ];
}

export const viewTypes: ViewTypes = {
  isText: (type) => /^(?:text|character)(?!.*\[\])/.test(type),
  isAsModelled: ({ type }, { sqlType }) => isOfType(type, sqlType),
};

/** A column of a table that existed before. */
export interface ColumnChange {
  readonly name: string;
  /** types as `format_type` writes them */
  readonly from: string;
  readonly to: string;
}

/**
 * Throws AppError `conflict` if views use columns that must become wider, directly or through other views, because the database does not
 * change such columns. The message names all these views, with what to do.
 */
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
