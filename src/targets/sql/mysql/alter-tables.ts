/** A table that was there before, made able to take the rows that come. Each statement leaves a table that has lost nothing. */
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { findAlterations } from '../alterations.ts';
import type { DrawnModel } from '../drawn-model.ts';
import type { FoundColumn, FoundTable } from '../found-tables.ts';
import type { Mysql } from './connection.ts';
import type { MysqlStagedTable } from './staging.ts';
import { foldedName } from './tables.ts';
import { isText, settledType, textOf, turnToText } from './types.ts';

const { quote } = mysql;

export interface AdaptedTable {
  /** of the columns, expressions over the staged rows `s` */
  readonly values: readonly string[];
  /** types of the columns, in the model's order */
  readonly types: readonly string[];
}

/**
 * Adds columns, widens types and drops NOT NULL, by statements of which each leaves a table that has lost nothing. Returns how the staged rows become
 * rows of it. `written`: of a column of the table that becomes text, a statement that writes into another one what documents say.
 */
export async function adaptTable(
  publication: { readonly database: Mysql; readonly drawn: DrawnModel; readonly changes: string[] },
  index: number,
  table: MysqlStagedTable,
  known: FoundTable,
  written: (at: number, into: string) => string | null,
): Promise<AdaptedTable> {
  const { database } = publication;
  const columns = table.physical.columns;
  const { alterations, types } = await findAlterations(publication, index, known, {
    foldedName,
    column: (at) => ({
      type: table.sqlType(at),
      nullable: columns[at]!.nullable || table.isNullable(at),
    }),
    settle: (there, at) => settledType(there.type, table.sqlType(at)),
    isLoosened: (there, type) => turnsToText(there.type, type),
  });
  const isThere = (name: string): boolean => known.columns.has(foldedName(name));
  const clauses: string[] = [];
  /** by name: what becomes of columns */
  const modified = new Map<string, { readonly there: FoundColumn; type: string; notNull: boolean }>();
  for (const alteration of alterations) {
    if (alteration.kind === 'add') {
      const { name, comment } = columns[alteration.at]!;
      clauses.push(
        `ADD COLUMN ${quote(name)} ${alteration.type} NULL COMMENT ${mysql.literal(commentLine(comment, 1000))}`,
      );
      continue;
    }
    const { there } = alteration;
    if (alteration.kind === 'widen' && turnsToText(there.type, alteration.type)) {
      const { at } = alteration;
      const text = textOf(
        quote(there.name),
        there.type,
        table.columns[at]!.type,
        table.offsetOf(at, isThere),
      );
      const column = { name: there.name, comment: there.comment ?? '' };
      await turnToText(database, known.name, column, text, (into) => written(at, into));
      continue;
    }
    const change = modified.get(there.name) ?? { there, type: there.type, notNull: there.notNull };
    if (alteration.kind === 'widen') change.type = alteration.type;
    else change.notNull = false;
    modified.set(there.name, change);
  }
  for (const { there, type, notNull } of modified.values())
    clauses.push(
      `MODIFY ${quote(there.name)} ${type} ${notNull ? 'NOT NULL' : 'NULL'} COMMENT ${mysql.literal(there.comment ?? '')}`,
    );
  if (clauses.length > 0) await database.run(`ALTER TABLE ${quote(known.name)} ${clauses.join(', ')}`);
  const values = table.columns.map(({ name, type }, at) => {
    const staged = `s.${quote(name)}`;
    if (!isThere(name) || !isText(types[at]!)) return staged;
    const offset = table.offsetOf(at);
    return textOf(staged, table.sqlType(at), type, offset === null ? null : `s.${offset}`);
  });
  return { values, types };
}

function turnsToText(from: string, to: string): boolean {
  return isText(to) && !isText(from);
}
