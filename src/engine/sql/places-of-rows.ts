/** Where in documents rows of a table stand, beside the first path that names it. */
import { keyHolders } from '../model/child-keys.ts';
import type { RelationalModel, Table } from '../model/relational-model.ts';

/** further places of a shared table that its own comment names, and that of each of its columns */
const mostPlaces = { table: 8, column: 2 } as const;

export interface PlacesOfRows {
  /**
   * Where else than at its first path rows of a table stand: the other elements that are rows of it, each by its first path, and, where a
   * table above is shared itself, that it has other places, too.
   */
  further(table: Table, of: keyof typeof mostPlaces): readonly string[];
}

/** What is known of a table is kept, as all that lie below ask for it. */
export function placesOfRows(model: RelationalModel): PlacesOfRows {
  let inRowsAbove: ReadonlyMap<Table, readonly UseOfRows[]> | null = null;
  const usesOf = (table: Table): readonly UseOfRows[] => {
    const first = firstOfRow(model, table);
    return [...ownUses(model, first), ...((inRowsAbove ??= heldUses(model)).get(first) ?? [])];
  };
  const otherUses = new Map<Table, readonly string[]>();
  const sharedAbove = new Map<Table, Table | null>();

  /** First paths of the uses of a table but that of its own first path. */
  function otherUsesOf(table: Table): readonly string[] {
    const known = otherUses.get(table);
    if (known !== undefined) return known;
    const uses = usesOf(table).map(({ path, parent }) =>
      parent.path === undefined
        ? toldPath(path)
        : `${parent.xpath}${toldPath(path.slice(parent.path.length))}`,
    );
    const found = [...new Set(uses)].filter((path) => path !== firstOfRow(model, table).xpath);
    otherUses.set(table, found);
    return found;
  }

  /** The nearest table above that has several uses; null where there is none. */
  function sharedAboveOf(table: Table): Table | null {
    const climbed = new Set<Table>();
    let at: Table | undefined = firstOfRow(model, table);
    let found: Table | null = null;
    while (at !== undefined && !climbed.has(at)) {
      const known = sharedAbove.get(at);
      if (known !== undefined) {
        found = known;
        break;
      }
      climbed.add(at);
      const parents: Table[] = usesOf(at).map(({ parent }) => parent);
      found = parents.find((parent) => !climbed.has(parent) && otherUsesOf(parent).length > 0) ?? null;
      if (found !== null) break;
      // what has several uses is found above: else all its keys lead to one parent
      at = parents.find((parent) => !climbed.has(parent));
      if (at !== undefined) at = firstOfRow(model, at);
    }
    for (const below of climbed) sharedAbove.set(below, found);
    return found;
  }

  return {
    further(table, of) {
      const places = otherUsesOf(table);
      const shown = places.slice(0, mostPlaces[of]);
      const below = of === 'table' ? '' : 'below ';
      const more = places.length - shown.length;
      const rest = more > 0 ? ` and ${more} more` : '';
      const further = shown.length === 0 ? [] : [`also ${below}${shown.join(', ')}${rest}`];
      const above = sharedAboveOf(table);
      return above === null ? further : [...further, `also below other places of ${above.name}`];
    },
  };
}

/** A path of a use as XPaths beside it are written: they have no sign of a name without a namespace. */
export function toldPath(use: string): string {
  return use.replaceAll('{}', '');
}

interface UseOfRows {
  readonly path: string;
  readonly parent: Table;
}

/** By the keys that rows above have of those below. */
function heldUses(model: RelationalModel): ReadonlyMap<Table, readonly UseOfRows[]> {
  return new Map(
    [...keyHolders(model)].map(([table, holders]) => [
      model.tables[table]!,
      holders.flatMap((holder): UseOfRows[] =>
        holder.path === undefined
          ? []
          : [{ path: holder.path, parent: firstOfRow(model, model.tables[holder.table]!) }],
      ),
    ]),
  );
}

/** By its keys to the rows above, as far as the model says what they stand for. `table`: the first of its rows. */
function ownUses(model: RelationalModel, table: Table): readonly UseOfRows[] {
  return table.columns.flatMap(({ role, path, references, roles }) => {
    // a row that hangs from the head of its group stands where that does
    if (role !== 'parent_key' || references === null || path === undefined || path.endsWith('/(head)'))
      return [];
    const parent = model.tables[references]!;
    return roles === undefined
      ? [{ path, parent }]
      : roles.map((one) => ({ path: `${path}/${one}`, parent }));
  });
}

/** The first of the tables that hold one row. */
function firstOfRow({ tables }: RelationalModel, table: Table): Table {
  let first = table;
  while (first.continues !== undefined) first = tables[first.continues]!;
  return first;
}
