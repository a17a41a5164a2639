/** Keys of tables: row keys, keys of parents and of children, and keys that an XSD declares. */
import type { Steps } from '../in-slices.ts';
import type { RelationalModel, Column } from './relational-model.ts';
import { peekMember } from './packed/reader.ts';

// Keys that an XSD declares: natural keys of tables, and references between their columns.

/** A column of a key by the names of the target; `position` counts from 1. */
interface DeclaredKeyColumn {
  readonly tableName: string;
  readonly columnName: string;
  readonly position: number;
}

export interface DeclaredKeys {
  /** keyed by table: the first of its keys and uniques, keys before uniques */
  readonly natural: ReadonlyMap<string, readonly DeclaredKeyColumn[]>;
  /** keyed by table and column, `table.column`: the column that keyrefs refer to */
  readonly references: ReadonlyMap<string, { readonly to: string; readonly position: number }>;
}

/** Keys before uniques, both before keyrefs. */
export function* declaredKeys({ tables, identityRules: rules = [] }: RelationalModel): Steps<DeclaredKeys> {
  const natural = new Map<string, DeclaredKeyColumn[]>();
  const references = new Map<string, { to: string; position: number }>();
  for (const kind of ['key', 'unique', 'keyref'] as const) {
    for (const rule of rules) {
      if (rule.kind !== kind) continue;
      const targets = rule.refers === null ? [] : rules[rule.refers]!.tables;
      for (const { table, columns } of rule.tables) {
        yield;
        const { name: tableName, columns: own } = tables[table]!;
        if (kind !== 'keyref' && natural.has(tableName)) continue;
        const names = columns.map((at) => own[at]!.name);
        if (kind !== 'keyref') {
          natural.set(
            tableName,
            names.map((columnName, at) => ({ tableName, columnName, position: at + 1 })),
          );
          continue;
        }
        // a key of several tables is no column's target
        const [target] = targets;
        if (target === undefined || targets.length > 1) continue;
        for (const [at, name] of names.entries()) {
          const parent = tables[target.table]!;
          const to = `${parent.name}.${parent.columns[target.columns[at]!]!.name}`;
          references.set(`${tableName}.${name}`, { to, position: at + 1 });
        }
      }
    }
  }
  return { natural, references };
}

// Tests if the tables of a target have the same key columns as a model.

type Rooted = Pick<RelationalModel, 'tables' | 'roots' | 'nodes'>;

/** Returns the indexes of the tables that have rows of root elements. */
export function rootTables({ roots, nodes }: Omit<Rooted, 'tables'>): ReadonlySet<number> {
  return new Set(roots.map(({ node }) => nodes[node]!.table));
}

/**
 * True for a table that another logical schema made, in which the key of the row or of the document has another name: rows of both would be
 * mixed there. `has`: whether the table has a column, by the name that the model gives it.
 */
export function hasOtherKeys(columns: readonly Column[], has: (name: string) => boolean): boolean {
  return columns.some(({ role, name }) => (role === 'row_key' || role === 'document') && !has(name));
}

/** `place`: the target, for people. */
export function otherKeysMessage(target: string, table: string): string {
  return `${target}: ${table} was made by another logical schema, which has other names for the key columns. Load with that logical schema (-l ID; its id_lschma is in _loads, or in manifest.json of a folder), or use another target.`;
}

// Columns that identify which element of the parent row a row is, if several hang by one key (`PlanEdge.role`).

/** Last step of the path of a column that only has roles. */
export const roleStep = '/(role)';

/** True if the column identifies the use of a table that its row is, and exists only for that. */
export function isRoleColumn({ role, path }: Pick<Column, 'role' | 'path'>): boolean {
  return role === 'element_name' && path.endsWith(roleStep);
}

// Rows that have the keys of their children, as seen from the children.

/** A column with keys of rows of another table that are below its own rows. */
export interface KeyHolder {
  readonly table: number;
  /** place in that table */
  readonly column: number;
  /** path of the children in their documents, as in `Column.path` */
  readonly path: string;
}

/** Returns, by table, the columns with keys of its rows, in the order of the tables. */
export function keyHolders({
  tables,
}: Pick<RelationalModel, 'tables'>): ReadonlyMap<number, readonly KeyHolder[]> {
  const holders = new Map<number, KeyHolder[]>();
  for (const [index, table] of tables.entries())
    for (const [column, { role, references, path }] of peekMember(table, 'columns').entries()) {
      if (role !== 'child_key' || references === null) continue;
      const known = holders.get(references);
      const holder = { table: index, column, path };
      if (known === undefined) holders.set(references, [holder]);
      else known.push(holder);
    }
  return holders;
}
