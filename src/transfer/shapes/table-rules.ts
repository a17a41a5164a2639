/** The rules for a relational model beyond its shape: names that databases accept, and rows of finite length. */
import { byteLength } from '../../engine/map/names/identifiers.ts';
import type { ColumnRole, RelationalModel } from '../../engine/model/relational-model.ts';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { hasHiddenCharacters } from '../../engine/hidden-characters.ts';
import { shapeFault } from './json-shape.ts';

const holdsKey: ReadonlySet<ColumnRole> = new Set(['parent_key', 'child_key']);

/** Checks names without regard to case, because some databases ignore it. */
export function checkNames({ tables, nameMaxLength }: RelationalModel, at: string): void {
  const inTarget = new Set<string>(Object.values(sideTableNames));
  const add = (names: Set<string>, name: string, pointer: string): void => {
    if (hasHiddenCharacters(name)) throw shapeFault(pointer, 'has a name with characters that are not seen');
    if (byteLength(name) > nameMaxLength)
      throw shapeFault(pointer, `has a name of more than ${nameMaxLength} bytes`);
    const known = name.toLowerCase();
    if (names.has(known)) throw shapeFault(pointer, `has the name ${name} twice`);
    names.add(known);
  };
  for (const [index, { name, columns, uniqueKeys }] of tables.entries()) {
    const pointer = `${at}/tables/${index}`;
    add(inTarget, name, pointer);
    const inTable = new Set<string>();
    for (const { name: column, listNames } of columns) {
      add(inTable, column, pointer);
      if (listNames === undefined) continue;
      add(inTable, listNames.count, pointer);
      add(inTarget, listNames.table, pointer);
    }
    for (const key of uniqueKeys) add(new Set(), key.name, pointer);
    const keys = columns.filter(({ role }) => role === 'row_key').length;
    if (keys !== 1) throw shapeFault(pointer, 'has not one row key');
    if (columns.some(({ role, references }) => holdsKey.has(role) && references === null))
      throw shapeFault(pointer, 'has a key of other rows that refers to no table');
  }
}

/** An element that is folded into the row of another is not folded, over others, into its own. */
export function checkFolding({ nodes }: RelationalModel, at: string): void {
  /** by node: the nodes that it is folded from and that have not been followed yet */
  const open = new Map<number, number[]>();
  const done = new Set<number>();
  const foldedInto = (index: number): number[] =>
    [...nodes[index]!.edges, ...nodes[index]!.typeEdges]
      .map(({ node }) => node)
      .filter((node) => nodes[node]?.opensRow === false);
  for (const start of nodes.keys()) {
    const path = [start];
    while (path.length > 0) {
      const index = path.at(-1)!;
      const left = open.get(index) ?? foldedInto(index);
      const next = done.has(index) ? undefined : left.pop();
      open.set(index, left);
      if (next === undefined) {
        done.add(index);
        open.delete(index);
        path.pop();
      } else if (open.has(next)) throw shapeFault(at, 'folds an element into itself');
      else path.push(next);
    }
  }
}
