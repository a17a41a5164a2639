/**
 * Alters an existing table so that it can hold the incoming rows. SQLite adds columns; for every other change the table is made again and
 * filled.
 */
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { AppError } from '../../../errors.ts';
import { foldedName, type SqliteDb } from './database.ts';
import { changedTable, type ChangedColumn } from './tables.ts';
import { isText, lexicalText, settledType } from './types.ts';
import { findAlterations } from '../alterations.ts';
import { runAll, temporaryName } from '../database.ts';
import { drawModel, type FoundTable, type FoundTables, type DrawnModel } from '../found-tables.ts';
import type { Publication } from '../publication.ts';
import { physicalName } from '../../../engine/sql/physical-model.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { columnId } from '../../rows/unfit-columns.ts';

type SqlitePublication = Publication<SqliteDb>;

/**
 * Adds missing columns, widens types, and drops NOT NULL if a row may leave the column empty. Returns the types that the table's columns
 * have afterwards, in the model's order. `index`: in the drawn model.
 */
export async function adaptTable(
  publication: SqlitePublication,
  index: number,
  known: FoundTable,
): Promise<string[]> {
  const { database, drawn } = publication;
  const table = drawn.tables[index]!;
  const { alterations, types } = await findAlterations(publication, index, known, {
    foldedName,
    column: (at) => ({ type: table.columns[at]!.sqlType, nullable: table.columns[at]!.nullable }),
    settle: (there, at) => settledType(there.type, table.columns[at]!.sqlType),
    isAdded: (at) => !wasList(publication, index, at, known),
  });
  const changed = new Map<string, { readonly change: ChangedColumn; readonly from: string }>();
  const statements: string[] = [];
  for (const alteration of alterations) {
    if (alteration.kind === 'add') {
      const { name, sqlType, comment } = table.columns[alteration.at]!;
      const { comments } = sqlite;
      const told = comments.kind === 'inline' ? comments.column(commentLine(comment, null)) : '';
      statements.push(
        `ALTER TABLE ${doubleQuoted(known.name)} ADD COLUMN ${doubleQuoted(name)} ${sqlType} ${told}`,
      );
      continue;
    }
    const { name, type: from } = alteration.there;
    const change = alteration.kind === 'widen' ? { type: alteration.type } : { dropsNotNull: true };
    changed.set(name, { change: { ...changed.get(name)?.change, ...change }, from });
  }
  if (changed.size > 0) await remake(publication, known, changed);
  await runAll(database, statements);
  await listsToText(publication, index, known);
  return types;
}

/** Makes a new table with the changed columns, fills it from the old one, and replaces that, with its indexes and triggers. */
async function remake(
  { database }: SqlitePublication,
  known: FoundTable,
  changed: ReadonlyMap<string, { readonly change: ChangedColumn; readonly from: string }>,
): Promise<void> {
  const name = temporaryName();
  const statement = changedTable(
    known.statement!,
    doubleQuoted(name),
    new Map([...changed].map(([column, { change }]) => [column, change])),
  );
  if (statement === null)
    throw new AppError(
      'conflict',
      `${known.name} was made in a way that cannot be changed here: widen ${[...changed.keys()].join(', ')} by hand, or name another target.`,
    );
  const belonging = database.read<{ sql: string }>(
    `SELECT sql FROM sqlite_schema WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL`,
    known.name,
  );
  const columns = [...known.columns.values()];
  const values = columns.map((column) => {
    const change = changed.get(column.name);
    const quoted = doubleQuoted(column.name);
    if (change?.change.type === undefined || !isText(change.change.type)) return quoted;
    return lexicalText(quoted, change.from, false);
  });
  const names = columns.map((column) => doubleQuoted(column.name)).join(', ');
  await runAll(database, [
    statement,
    `INSERT INTO ${doubleQuoted(name)} (${names}) SELECT ${values.join(', ')} FROM ${doubleQuoted(known.name)}`,
    `DROP TABLE ${doubleQuoted(known.name)}`,
    `ALTER TABLE ${doubleQuoted(name)} RENAME TO ${doubleQuoted(known.name)}`,
    ...belonging.map(({ sql }) => sql),
  ]);
}

/** Returns the list as the model draws it, if a column of text replaces it now and the table of its items exists; otherwise null. */
function listBefore(publication: SqlitePublication, index: number, at: number) {
  const { plan, drawn } = publication;
  const column = plan.model.tables[index]?.columns[at];
  if (column?.type.list !== true || drawn.lists.some((list) => list.owner === index && list.column === at))
    return null;
  const before = drawModel(plan.model, sqlite);
  const list = before.lists.find((one) => one.owner === index && one.column === at)!;
  return { table: before.tables[list.table!]!, count: before.tables[index]!.columns[at]!.name };
}

function wasList(publication: SqlitePublication, index: number, at: number, known: FoundTable): boolean {
  const before = listBefore(publication, index, at);
  return before !== null && known.columns.has(foldedName(before.count));
}

/** Writes the items of lists into the column that became text, separated by spaces, as in XML. */
async function listsToText(publication: SqlitePublication, index: number, known: FoundTable): Promise<void> {
  const { database, drawn, changes, plan } = publication;
  if (index >= plan.model.tables.length) return;
  const { name, columns, primaryKey } = drawn.tables[index]!;
  for (const [at, column] of columns.entries()) {
    const before = listBefore(publication, index, at);
    if (before === null || !known.columns.has(foldedName(before.count))) continue;
    const [, parent, position, item] = before.table.columns.map((one) => doubleQuoted(one.name)) as [
      string,
      string,
      string,
      string,
    ];
    const list = doubleQuoted(before.table.name);
    const itemType = before.table.columns[3]!.sqlType;
    if (publication.known.has(foldedName(before.table.name)))
      await runAll(database, [
        `CREATE INDEX ${doubleQuoted(temporaryName())} ON ${list} (${parent}, ${position})`,
        `UPDATE ${doubleQuoted(name)} SET ${doubleQuoted(column.name)} = coalesce((SELECT group_concat(${lexicalText(`l.${item}`, itemType, false)}, ' ' ORDER BY l.${position}) FROM ${list} l WHERE l.${parent} = ${doubleQuoted(name)}.${doubleQuoted(primaryKey[0]!)}), '') WHERE ${doubleQuoted(before.count)} IS NOT NULL`,
        `DROP TABLE ${list}`,
        `DELETE FROM _keys WHERE table_name = ${standardLiteral(before.table.name)}`,
      ]);
    await database.run(`ALTER TABLE ${doubleQuoted(name)} DROP COLUMN ${doubleQuoted(before.count)}`);
    changes.push(`${name}.${column.name}: list widened to text`);
  }
}

/**
 * Returns the model as it is drawn for the rows of a job. A column is text if a value does not fit its type, or if it is a list that an
 * earlier job made text.
 */
export function drawForRows(
  model: RelationalModel,
  known: FoundTables,
  { widened, nullAllowed }: Pick<Publication<never>, 'widened' | 'nullAllowed'>,
): DrawnModel {
  const asModelled = drawModel(model, sqlite);
  const isTextThere = (table: number, column: number): boolean => {
    const there = known.get(foldedName(asModelled.tables[table]!.name))?.columns;
    const { columns } = asModelled.tables[table]!;
    const name = physicalName(sqlite, model.tables[table]!.columns[column]!.name);
    return (
      there !== undefined && there.has(foldedName(name)) && !there.has(foldedName(columns[column]!.name))
    );
  };
  return drawModel(
    {
      ...model,
      tables: model.tables.map((table, index) => ({
        ...table,
        columns: table.columns.map((column, at) => {
          const id = columnId(index, at);
          const becomesText = widened.has(id) || (column.type.list === true && isTextThere(index, at));
          if (!becomesText && !nullAllowed.has(id)) return column;
          return {
            ...column,
            ...(becomesText ? { type: { kind: 'text' as const } } : {}),
            nullable: column.nullable || nullAllowed.has(id),
          };
        }),
      })),
    },
    sqlite,
  );
}
