/** Replaces several uses of a shared table in rows of one other table by one key and a column that says which use a row is. */
import { useText, withoutMarks } from '../../model/column-uses.ts';
import type { PreviousNames } from '../names/history.ts';
import type { ElementNames } from '../names/table-paths.ts';
import {
  hangsFromHead,
  newColumn,
  type ColumnDraft,
  type Drawing,
  type EdgeDraft,
  type TableDraft,
} from './model-builder.ts';
import { elementNames, key } from './drawn-tables.ts';

/** Returns the use of the one key that replaces all keys to rows of `parent`. */
export function sharedKeyUse(parent: TableDraft): string {
  return useText('parent_key', parent.usePath, parent.usePath);
}

/**
 * Unites the keys of a table that has several to another table, one for each element that its rows may be there. One key replaces them, and
 * the element's way from the row above becomes the role of the row. The paths of tables are settled. Tables of an earlier version keep the
 * keys they have, and the column with the names of elements.
 */
export function unitePlacesInParents(
  drawing: Drawing,
  previous: Pick<PreviousNames, 'elementNames' | 'hasPath' | 'roles'>,
): void {
  const united = new Map<ColumnDraft, UnitedKey>();
  const named = new Map<TableDraft, ColumnDraft>();
  for (const table of drawing.tables) {
    if (table.kind !== 'element') continue;
    const keys = table.columns.filter(isOfPlace);
    const isKnown = previous.hasPath(table.usePath);
    for (const [parent, uses] of Map.groupBy(keys, (column) => column.parent!)) {
      const earlier = previous.roles(table.usePath, sharedKeyUse(parent));
      if (isKnown ? earlier === null : uses.length < 2) continue;
      const roles = [...new Set([...(earlier ?? []), ...withoutMarksFirst(uses.map(wayOfPlace))])];
      const textOf = roleTexts(roles);
      const documentation = saidOfRoles(uses, textOf);
      const one = newColumn({ role: 'parent_key', type: key, parent, documentation, roles });
      for (const use of uses) united.set(use, { key: one, textOf });
      table.columns.splice(table.columns.indexOf(uses[0]!), 1, one);
    }
    const hasRoles = keys.some((use) => united.has(use));
    if (hasRoles) table.columns.splice(0, Infinity, ...table.columns.filter((one) => !united.has(one)));
    const before = previous.elementNames(table.usePath);
    if (hasRoles || goesOn(table, before)) named.set(table, elementColumnOf(table, before));
  }
  tellRoles(drawing, united);
  for (const node of drawing.nodes) {
    const column = node.opensRow ? named.get(node.table) : undefined;
    if (column !== undefined) node.elementName ??= column;
  }
}

/** Returns the documentation of each of the elements, preceded by its role. */
function saidOfRoles(uses: readonly ColumnDraft[], textOf: RoleTexts): string | undefined {
  const said = uses.flatMap((use) =>
    use.documentation === undefined ? [] : [`${textOf(wayOfPlace(use))}: ${use.documentation}`],
  );
  return said.length === 0 ? undefined : said.join('; ');
}

function wayOfPlace({ steps }: ColumnDraft): string {
  return steps.slice(1);
}

function isOfPlace({ role, via }: ColumnDraft): boolean {
  return role === 'parent_key' && via[0] !== hangsFromHead;
}

/**
 * Returns whether all rows of the table name their elements because those of the last version did. A substitution group that is drawn in a
 * table names the elements of its own rows only, unless the column is one of roles.
 */
function goesOn({ columnByKey }: TableDraft, before: ElementNames | null): boolean {
  return before?.former === false && (before.isOfRoles || !columnByKey.has('/element'));
}

/** Returns the column with the names of the elements of all rows of the table, or a new one, which continues the one of `before`. */
function elementColumnOf(table: TableDraft, before: ElementNames | null): ColumnDraft {
  const known = table.columnByKey.get('/element');
  const column = known ?? newColumn(elementNames(before?.isOfRoles ?? true, table.xpath));
  if (known === undefined) {
    table.columnByKey.set('/element', column);
    table.columns.push(column);
  }
  // rows that refer to the row of their head have their role there
  const hangs = table.columns.some(({ via }) => via[0] === hangsFromHead);
  if (!hangs) for (const opener of table.openers) column.requiredBy.add(opener);
  return column;
}

function tellRoles({ nodes, uses }: Drawing, united: ReadonlyMap<ColumnDraft, UnitedKey>): void {
  const wayOf = ({ name }: EdgeDraft, { steps }: ColumnDraft): string =>
    `${steps.slice(0, steps.lastIndexOf('/') + 1)}${uses.element(name)}`.slice(1);
  for (const { edges } of nodes)
    for (const edge of edges) {
      const before = (edge.head ?? edge).parentKey;
      const one = before === null ? undefined : united.get(before);
      if (one === undefined) continue;
      edge.role = one.textOf(wayOf(edge, before!));
      // edges to the members of a group share one head
      if (edge.head === null) edge.parentKey = one.key;
      else edge.head = { ...edge.head, parentKey: one.key };
    }
}

/** One key that replaces several, and the texts of the roles that rows have by it. */
interface UnitedKey {
  readonly key: ColumnDraft;
  readonly textOf: RoleTexts;
}

/** Prints the way to an element from the row above as the role of its row. */
type RoleTexts = (way: string) => string;

/** Returns the ways, beginning with those whose text another way would also get. */
function withoutMarksFirst(ways: readonly string[]): string[] {
  const marked = new Set(ways.flatMap((way) => (withoutMarks(way) === way ? [] : [withoutMarks(way)])));
  return [...ways.filter((way) => marked.has(way)), ...ways.filter((way) => !marked.has(way))];
}

/**
 * Prints roles without the marks of names in no namespace (`general/orderRef`), unless another role of the same key has that text. The
 * `ways` get their texts first, in their order, so that those of earlier versions keep them. A way without marks gets a number if its text
 * is taken.
 */
function roleTexts(ways: readonly string[]): RoleTexts {
  const texts = new Map<string, string>();
  const taken = new Set<string>();
  const textOf = (way: string): string => {
    const known = texts.get(way);
    if (known !== undefined) return known;
    let text = taken.has(withoutMarks(way)) ? way : withoutMarks(way);
    for (let number = 2; taken.has(text); number += 1) text = `${way} (${number})`;
    texts.set(way, text);
    taken.add(text);
    return text;
  };
  for (const way of ways) textOf(way);
  return textOf;
}
