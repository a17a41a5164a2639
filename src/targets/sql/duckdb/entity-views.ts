/**
 * Views of business entities (`--views`) in the transaction that publishes. DuckDB lets tables change below views, which then tell of types
 * that they do not have any more: what a load made, told by the mark in its comment, is made anew. No fault of a view fails a load.
 */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import {
  markedComment,
  viewsOver,
  type ColumnsThere,
  type LoadView,
} from '../../../adapters/row-sinks/made-views.ts';
import { foldedName } from './database.ts';
import { readTables, type KnownTables } from './tables.ts';
import { columnSqlType } from './types.ts';
import type { DuckDbPublication } from './publication.ts';

/** what a definition can be refused for; such an error leaves the transaction as it is */
const refusals = /^(?:Binder|Catalog|Parser|Conversion|Invalid Input|Not implemented|IO|Permission) Error:/;

/** Views of loads whose names tables of this model have: they get other ones. */
export async function dropViewsOfNames({
  database,
  plan,
  tables,
  known,
  changes,
}: DuckDbPublication): Promise<void> {
  for (const { name } of tables) {
    const view = known.get(foldedName(name));
    if (view === undefined || view.madeView === null) continue;
    await database.run(`DROP VIEW ${doubleQuoted(view.name)}`);
    known.delete(foldedName(name));
    if (plan.views !== true)
      changes.push(`${view.name}: view dropped, a table has its name now: --views makes it under another`);
  }
}

/** Makes those that are wanted, and all that loads made, over the tables and columns that are there now. */
export async function publishViews(publication: DuckDbPublication): Promise<void> {
  const { database, plan, changes } = publication;
  const known = await readTables(database);
  const ours = new Map([...known].filter(([, { madeView }]) => madeView !== null));
  if (plan.views !== true && !publication.merge.keepsHistory && ours.size === 0) return;
  const isAltered = changes.length > 0;
  const made: string[] = [];
  for (const view of await viewsOfModel(publication, known)) {
    const there = known.get(foldedName(view.name));
    if (there === undefined && !view.isWanted) continue;
    if (there !== undefined && there.madeView === null) {
      if (view.isWanted) changes.push(`${view.name}: not made as a view, no load made what has this name`);
      continue;
    }
    ours.delete(foldedName(view.name));
    const comment = await markedComment(view);
    if (there?.madeView?.comment === comment && !isAltered) continue;
    const refused = await makeView(publication, view.name, view.statements[0]!, comment);
    if (refused !== null) changes.push(`${view.name}: no view could be made: ${refused}`);
    else if (there?.madeView?.comment !== comment) made.push(view.name);
  }
  if (made.length > 0) changes.push(`views made: ${made.join(', ')}`);
  if (!isAltered) return;
  for (const { name, madeView } of ours.values()) {
    const refused = await makeView(publication, name, madeView!.statement, madeView!.comment);
    if (refused !== null)
      changes.push(`${name}: view dropped, as it does not fit its tables any more: ${refused}`);
  }
}

/** Null: it is there; else why not. */
async function makeView(
  { database }: DuckDbPublication,
  name: string,
  statement: string,
  comment: string,
): Promise<string | null> {
  await database.run(`DROP VIEW IF EXISTS ${doubleQuoted(name)}`);
  try {
    await database.run(statement);
  } catch (error) {
    const [line] = (error as Error).message.split('\n');
    if (refusals.test(line!)) return line!;
    throw error;
  }
  await database.run(`COMMENT ON VIEW ${doubleQuoted(name)} IS ${standardLiteral(comment)}`);
  return null;
}

function viewsOfModel(
  { plan, tables, merge }: DuckDbPublication,
  known: KnownTables,
): Promise<readonly LoadView[]> {
  const columnsThere: ColumnsThere = {
    dialect: 'duckdb',
    knowsVersions: known.get(sideTableNames.documents)?.columns.has('valid_to') === true,
    hasTable: (table) => known.get(foldedName(tables[table]!.name))?.isView === false,
    columnsOf: (table) => [...(known.get(foldedName(tables[table]!.name))?.columns.values() ?? [])],
    typeOf: (table, at) => {
      const { columns, name } = tables[table]!;
      const type = known.get(foldedName(name))!.columns.get(foldedName(columns[at]!.name))?.type;
      if (type === undefined) return null;
      if (type === 'VARCHAR') return 'text';
      const modelled = plan.model.tables[table]!.columns[at]!.type;
      const isDecimal = modelled.kind === 'numeric' && type.startsWith('DECIMAL');
      return type === columnSqlType(modelled) || isDecimal ? 'as modelled' : 'other';
    },
  };
  return viewsOver(plan, tables, columnsThere, {
    entities: plan.views === true,
    current: merge.keepsHistory,
  });
}
