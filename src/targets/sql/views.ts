/**
 * Views of business entities (`--views`) and of current rows (`--history`), made by the transaction that publishes. A mark in its comment
 * says that a load made a view; only such views are changed. A view that the database refuses never fails a load.
 */
import { markedComment, viewsOver, type LoadView } from '../rows/made-views.ts';
import type { SqlDatabase } from './database.ts';
import { drawModel, knowsMerges } from './found-tables.ts';
import type { Publication, PublishingScope, SqlDriver, WaitingRows } from './publication.ts';

/** Drops views of loads that have the name of a table of this model: they get other names. */
export async function dropViewsOfNames<Database extends SqlDatabase, Waiting extends WaitingRows>({
  database,
  driver,
  plan,
  drawn,
  known,
  changes,
}: Publication<Database, Waiting>): Promise<void> {
  for (const { name } of drawn.tables) {
    const view = known.get(driver.foldedName(name));
    if (view === undefined || view.madeView === null) continue;
    await database.run(`DROP VIEW ${driver.dialect.quote(view.name)}`);
    known.delete(driver.foldedName(name));
    if (plan.views !== true)
      changes.push(
        `${view.name}: view dropped because a table now has its name: --views makes it under another name`,
      );
  }
}

/** Makes the views that are wanted, and makes again all views of loads whose tables have changed. */
export async function publishViews<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<void> {
  const { database, driver, plan, changes } = publication;
  const ours = new Map([...publication.known].filter(([, { madeView }]) => madeView !== null));
  if (plan.views !== true && !publication.merge.keepsHistory && ours.size === 0) return;
  const known = await driver.readTables(database);
  publication.known = known;
  const areTablesAltered = changes.length > 0;
  const made: string[] = [];
  for (const view of await viewsOfModel(publication, driver)) {
    const folded = driver.foldedName(view.name);
    const there = known.get(folded);
    if (there === undefined && !view.isWanted) continue;
    if (there !== undefined && there.madeView === null) {
      if (view.isWanted)
        changes.push(`${view.name}: view not made because an object that no load made has this name`);
      continue;
    }
    ours.delete(folded);
    const comment = await markedComment(view);
    // a database without comments on views keeps the end of the comment
    const isSame = there?.madeView != null && comment.endsWith(there.madeView.comment);
    if (isSame && !areTablesAltered) continue;
    const refusal = await makeView(publication, view.name, driver.viewStatements(view, comment));
    if (refusal !== null) changes.push(`${view.name}: no view could be made: ${refusal}`);
    else if (!isSame) made.push(view.name);
  }
  if (made.length > 0) changes.push(`views made: ${made.join(', ')}`);
  if (!areTablesAltered) return;
  for (const { name, madeView } of ours.values()) {
    const refusal = await makeView(publication, name, madeView!.statements);
    if (refusal !== null)
      changes.push(`${name}: view dropped because it no longer fits its tables: ${refusal}`);
  }
}

/** Returns why the database refuses the view, or null once it is made. */
async function makeView<Database extends SqlDatabase, Waiting extends WaitingRows>(
  { database, driver }: Publication<Database, Waiting>,
  name: string,
  statements: readonly string[],
): Promise<string | null> {
  const drop = `DROP VIEW IF EXISTS ${driver.dialect.quote(name)}`;
  if (driver.replacesViews !== true) await database.run(drop);
  try {
    for (const statement of statements) await database.run(statement);
    // SQLite checks a view only when it is used
    await database.read(`SELECT 1 FROM ${driver.dialect.quote(name)} LIMIT 0`);
    return null;
  } catch (error) {
    const refusal = driver.viewRefusal(error);
    if (refusal === null) throw error;
    await database.run(drop);
    return refusal;
  }
}

/** The operations by which a database distinguishes types of columns. */
export type ViewTypes = Pick<SqlDriver<SqlDatabase>, 'isText' | 'isAsModelled'>;

/** Returns the views that a load of the model makes over the tables and columns that are there. */
export function viewsOfModel<Database extends SqlDatabase>(
  { driver, plan, drawn, known, merge }: PublishingScope<Database>,
  { isText, isAsModelled }: ViewTypes,
): Promise<readonly LoadView[]> {
  const { foldedName, dialect, sqlSchema } = driver;
  // the drawn model may have a list that became text
  const modelled = drawModel(plan.model, dialect);
  const there = (table: number) => known.get(foldedName(modelled.tables[table]!.name));
  return viewsOver(
    plan,
    modelled.tables,
    {
      dialect,
      sqlSchema,
      knowsVersions: knowsMerges(known),
      hasTable: (table) => there(table)?.isView === false,
      columnsOf: (table) =>
        [...(there(table)?.columns.values() ?? [])].map(({ name, comment }) => ({
          name,
          comment: driver.modelComment?.(comment) ?? comment,
        })),
      typeOf: (table, at) => {
        const { columns } = there(table)!;
        const column = modelled.tables[table]!.columns[at]!;
        const found = columns.get(foldedName(column.name));
        if (found === undefined)
          return columns.has(foldedName(drawn.tables[table]!.columns[at]!.name)) ? 'text' : null;
        const modelledType = modelled.model.tables[table]!.columns[at]!.type;
        if (isAsModelled(found, { sqlType: column.sqlType, type: modelledType })) return 'as modelled';
        return isText(found.type) ? 'text' : 'other';
      },
    },
    { entities: plan.views === true, current: merge.keepsHistory },
  );
}
