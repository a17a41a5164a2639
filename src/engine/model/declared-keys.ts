/** Keys that an XSD declares: natural keys of tables, and references between their columns. */
import type { Steps } from '../in-slices.ts';
import type { RelationalModel } from './relational-model.ts';

/** A column of a key by the names of the target; `position` counts from 1. */
interface DeclaredKeyColumn {
  readonly tableName: string;
  readonly columnName: string;
  readonly position: number;
}

export interface DeclaredKeys {
  /** by table: the first of its keys and uniques, keys before uniques */
  readonly natural: ReadonlyMap<string, readonly DeclaredKeyColumn[]>;
  /** by table and column, `table.column`: the column that keyrefs refer to */
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
