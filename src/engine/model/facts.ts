/** Facts derived from a whole relational model: computed once, and stored with its packed form. */
import type { RelationalModel } from './relational-model.ts';
import { isOpenToZones } from './zones.ts';

export interface ModelFacts {
  /** distinct paths of the mappings that are active */
  readonly mappedPaths: number;
  /** by node: number of its mark within the row it is folded into; -1: it opens a row of its own */
  readonly marks: readonly number[];
  /** by table: number of marks that a row needs */
  readonly markCounts: readonly number[];
  /** columns that have instants or local times, depending on the target (`src/engine/model/zones.ts`): pairs of table and column */
  readonly openToZones: readonly (readonly [table: number, column: number])[];
}

const knownFacts = Symbol('facts');

export function factsOf(model: RelationalModel & { readonly [knownFacts]?: ModelFacts }): ModelFacts {
  return (
    model[knownFacts] ?? {
      mappedPaths: mappedPaths(model),
      ...marksOf(model),
      openToZones: openToZones(model),
    }
  );
}

function openToZones({ tables }: RelationalModel): [table: number, column: number][] {
  return tables.flatMap(({ columns }, table) =>
    columns.flatMap((column, at): [number, number][] => (isOpenToZones(column) ? [[table, at]] : [])),
  );
}

/** Returns the model with its facts, for readers that have both. */
export function withFacts<T extends object>(model: T, facts: ModelFacts): T {
  return Object.defineProperty(model, knownFacts, { value: facts });
}

function mappedPaths({ mappings }: RelationalModel): number {
  const paths = new Set<string | null>();
  for (const { xpath, active } of mappings) if (active !== false) paths.add(xpath);
  return paths.size;
}

/** One mark per folded place, which says whether it was seen; the members of a substitution group that share a place share its mark. */
function marksOf({ nodes, tables }: RelationalModel): Pick<ModelFacts, 'marks' | 'markCounts'> {
  const markCounts = tables.map(() => 0);
  const shared = new Map<string, number>();
  const marks = nodes.map(({ table, opensRow, elementNameColumn }) => {
    if (opensRow) return -1;
    const group = elementNameColumn >= 0 ? `${table}/${elementNameColumn}` : null;
    const known = group === null ? undefined : shared.get(group);
    const mark = known ?? markCounts[table]!;
    if (known === undefined) markCounts[table] = mark + 1;
    if (group !== null) shared.set(group, mark);
    return mark;
  });
  return { marks, markCounts };
}
