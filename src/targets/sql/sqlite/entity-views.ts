/**
 * Views of business entities (`--views`) in the transaction that publishes. What a load made is told by the mark in its text, and made anew
 * where its tables changed. No fault of a view fails a load.
 */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import {
  markedComment,
  viewsOver,
  type ColumnsThere,
  type LoadView,
} from '../../../adapters/row-sinks/made-views.ts';
import { foldedName } from './database.ts';
import { readTables, type FoundTables } from './tables.ts';
import { isText } from './types.ts';
import { drawModel, type DrawnModel, type SqlitePublication } from './publication.ts';

/** Views of loads whose names tables of this model have: they get other ones. */
export async function dropViewsOfNames({
  database,
  plan,
  drawn,
  known,
  changes,
}: SqlitePublication): Promise<void> {
  for (const { name } of drawn.tables) {
    const view = known.get(foldedName(name));
    if (view === undefined || view.madeView === null) continue;
    await database.run(`DROP VIEW ${doubleQuoted(view.name)}`);
    known.delete(foldedName(name));
    if (plan.views !== true)
      changes.push(`${view.name}: view dropped, a table has its name now: --views makes it under another`);
  }
}

/** Makes those that are wanted, and keeps all that loads made, over the tables and columns that are there now. */
export async function publishViews(publication: SqlitePublication): Promise<void> {
  const { database, plan, changes } = publication;
  const known = readTables(database);
  const ours = new Map([...known].filter(([, { madeView }]) => madeView !== null));
  if (plan.views !== true && !publication.merge.keepsHistory && ours.size === 0) return;
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
    if (there?.madeView?.comment === comment) continue;
    const text = view.query.replace(/^\s*/, '');
    const refused = await makeView(
      publication,
      view.name,
      `CREATE VIEW ${doubleQuoted(view.name)} AS /* ${comment.replaceAll('*/', '* /').replaceAll('/*', '/ *')} */\n${text}`,
    );
    if (refused !== null) changes.push(`${view.name}: no view could be made: ${refused}`);
    else made.push(view.name);
  }
  if (made.length > 0) changes.push(`views made: ${made.join(', ')}`);
  for (const { name, sql } of ours.values()) {
    const refused = await makeView(publication, name, sql);
    if (refused !== null)
      changes.push(`${name}: view dropped, as it does not fit its tables any more: ${refused}`);
  }
}

/** Null: it is there; else why not. SQLite looks into a view when it is asked for the first time. */
async function makeView(
  { database }: SqlitePublication,
  name: string,
  statement: string,
): Promise<string | null> {
  await database.run(`DROP VIEW IF EXISTS ${doubleQuoted(name)}`);
  try {
    await database.run(statement);
    database.prepare(`SELECT * FROM ${doubleQuoted(name)}`);
    return null;
  } catch (error) {
    await database.run(`DROP VIEW IF EXISTS ${doubleQuoted(name)}`);
    return (error as Error).message.split('\n')[0]!;
  }
}

function viewsOfModel(
  { plan, drawn, merge }: SqlitePublication,
  known: FoundTables,
): Promise<readonly LoadView[]> {
  const asModelled: DrawnModel = drawModel(plan.model);
  const columnsThere: ColumnsThere = {
    dialect: 'sqlite',
    knowsVersions: known.get(sideTableNames.documents)?.columns.has('valid_to') === true,
    hasTable: (table) => known.get(foldedName(asModelled.tables[table]!.name))?.isView === false,
    columnsOf: (table) => [
      ...(known.get(foldedName(asModelled.tables[table]!.name))?.columns.values() ?? []),
    ],
    typeOf: (table, at) => {
      const columns = known.get(foldedName(asModelled.tables[table]!.name))!.columns;
      const column = asModelled.tables[table]!.columns[at]!;
      const type = columns.get(foldedName(column.name))?.type;
      if (type === undefined)
        return columns.has(foldedName(drawn.tables[table]!.columns[at]!.name)) ? 'text' : null;
      if (type === column.sqlType) return 'as modelled';
      return isText(type) ? 'text' : 'as modelled';
    },
  };
  return viewsOver(plan, asModelled.tables, columnsThere, {
    entities: plan.views === true,
    current: merge.keepsHistory,
  });
}
