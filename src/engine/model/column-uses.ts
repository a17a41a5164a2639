/** The use of a column: its role and its full path. Versions of a model are compared by these. */
import type { Column, ColumnRole, Table } from './relational-model.ts';

type Tables = readonly Pick<Table, 'path'>[];

/** A row has one column of these roles at most. */
const once: ReadonlySet<ColumnRole> = new Set(['row_key', 'document', 'position']);

const leadsSomewhere: ReadonlySet<ColumnRole> = new Set(['parent_key', 'child_key']);

/**
 * `leadsTo`: for a key, the path of the table it refers to; null: the column is not a key. Columns for the same place refer to the same
 * table.
 */
export function useText(role: ColumnRole, path: string, leadsTo: string | null): string {
  if (once.has(role)) return role;
  if (leadsTo === null) return `${role} ${path}`;
  return role === 'child_key'
    ? `${role} ${path} ${leadsTo}`
    : `${role} ${leadsTo} ${path.slice(leadsTo.length)}`;
}

/** The parts of a use: of a key, `path` is that of the child in its parent's row; null for a use that has no path. */
export interface ReadUse {
  readonly role: ColumnRole;
  readonly path: string;
  readonly leadsTo: string | null;
}

/** Reads the text that `useText` makes. */
export function readUse(use: string): ReadUse | null {
  const [role, first, second = null] = use.split(/ (?=\/)/) as [ColumnRole, string?, (string | null)?];
  if (first === undefined) return null;
  // a key of several children has no steps
  if (role === 'parent_key')
    return { role, path: first.trimEnd() + (second ?? ''), leadsTo: first.trimEnd() };
  return { role, path: first, leadsTo: second };
}

/** Returns the use of a column, as `useText` writes it. */
export function useOf({ role, path, references }: Column, tables: Tables): string {
  const leadsTo = leadsSomewhere.has(role) && references !== null ? tables[references]!.path : null;
  return useText(role, path, leadsTo);
}

/** Returns the use string of the column that holds the number of items of a list column. */
export function listCountUse(use: string): string {
  return `count ${use}`;
}

/** The path of the table that holds the items of a column of lists. */
export function listTablePath(path: string): string {
  return `${path}/(items)`;
}

/** Returns the path of a use as XPaths are written, without the marks (`{}`) of names in no namespace. */
export function withoutMarks(use: string): string {
  return use.replaceAll('{}', '');
}
