/** What a column stands for: its role and the full path of its use, by which versions of a model are compared. */
import type { Column, ColumnRole, Table } from './relational-model.ts';

type Tables = readonly Pick<Table, 'path'>[];

/** A row has one column of these roles at most. */
const once: ReadonlySet<ColumnRole> = new Set(['row_key', 'document', 'position']);

/** `parent`, `below`: of a parent key, the path of the table it leads to and the steps from there. */
export function useText(role: ColumnRole, path: string, parent: string | null): string {
  if (once.has(role)) return role;
  return parent === null ? `${role} ${path}` : `${role} ${parent} ${path.slice(parent.length)}`;
}

/** Null where the model does not say (it is of an earlier release). */
export function useOf({ role, path, references }: Column, tables: Tables): string | null {
  if (path === undefined) return null;
  const parent = role === 'parent_key' && references !== null ? tables[references]!.path : null;
  return parent === undefined ? null : useText(role, path, parent);
}

/** What the number of items beside a column of lists stands for. */
export function listCountUse(use: string): string {
  return `count ${use}`;
}

/** The path of the table that holds the items of a column of lists. */
export function listTablePath(path: string): string {
  return `${path}/(items)`;
}
