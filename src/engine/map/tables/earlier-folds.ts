/** Children that an earlier version of the model read in their parent's row: rows in targets have them as columns, so they stay there. */
import type { SourceChild, SourceModel } from '../../model/source-model.ts';
import type { NameHistory } from '../names/history.ts';
import type { Drawing } from './model-builder.ts';
import { endlessTypes, type TypeGraph } from './type-graph.ts';
import { useText } from '../../model/column-uses.ts';

export interface FoldedPlaces {
  /** places in the form that `placeOf` returns */
  readonly places: ReadonlySet<string>;
  /** the places for which rows of the last version surely have columns */
  readonly kept: ReadonlySet<string>;
  /** one for the child of a type, the same in every version */
  readonly placeOf: (type: number, child: SourceChild) => string;
}

export class EarlierFolds {
  readonly #model: SourceModel;
  readonly #graph: TypeGraph;
  readonly #folded: FoldedPlaces;
  #endless: Uint8Array | null = null;
  #endlessInRows: Uint8Array | null = null;
  /** keyed by type: the elements of its children that are read in its row */
  readonly #ofTypes = new Map<number, ReadonlySet<number>>();
  /** keyed by type: its base types */
  #bases: ReadonlyMap<number, readonly number[]> | null = null;

  constructor(model: SourceModel, graph: TypeGraph, folded: FoldedPlaces) {
    this.#model = model;
    this.#graph = graph;
    this.#folded = folded;
  }

  /** `childTypes`: all types that the child may have. */
  has(type: number, child: SourceChild, childTypes: readonly number[]): boolean {
    if (this.#folded.places.size === 0 || !this.#of(type).has(child.element)) return false;
    // a type that can contain itself would never end
    const endless = this.#hasPlace(this.#folded.kept, type, child)
      ? (this.#endlessInRows ??= this.#findEndlessInRows())
      : (this.#endless ??= endlessTypes(this.#model, this.#graph));
    return childTypes.every((inner) => endless[inner] === 0);
  }

  /** Returns the types that would contain themselves in one row. */
  #findEndlessInRows(): Uint8Array {
    return endlessTypes(
      this.#model,
      this.#graph,
      (type, { element, maxOccurs }) => maxOccurs === 1 && this.#of(type).has(element),
    );
  }

  #of(type: number): ReadonlySet<number> {
    let elements = this.#ofTypes.get(type);
    if (elements === undefined) {
      const { places } = this.#folded;
      const folded = this.#model.types[type]!.children.filter((child) => this.#hasPlace(places, type, child));
      elements = new Set(folded.map(({ element }) => element));
      this.#ofTypes.set(type, elements);
    }
    return elements;
  }

  /**
   * Returns whether a set has the place of a child, or that of the same child in a base or derived type: elements of all these types may
   * have their rows in one table, in which a child has one place.
   */
  #hasPlace(places: ReadonlySet<string>, type: number, child: SourceChild): boolean {
    const { placeOf } = this.#folded;
    if (places.size === 0) return false;
    if (places.has(placeOf(type, child))) return true;
    this.#bases ??= basesOf(this.#model);
    const { types } = this.#model;
    return [...types[type]!.derived, ...(this.#bases.get(type) ?? [])].some((other) => {
      const same = types[other]!.children.find(({ element }) => element === child.element);
      return same !== undefined && places.has(placeOf(other, same));
    });
  }

  /** Returns the places folded before, together with those of `children`. */
  with(children: readonly (readonly [type: number, child: SourceChild])[]): string[] {
    const { places, placeOf } = this.#folded;
    return [...new Set([...places, ...children.map(([type, child]) => placeOf(type, child))])].toSorted();
  }
}

function basesOf({ types }: SourceModel): Map<number, number[]> {
  const bases = new Map<number, number[]>();
  for (const [base, { derived }] of types.entries())
    for (const type of derived) {
      const known = bases.get(type);
      if (known === undefined) bases.set(type, [base]);
      else known.push(base);
    }
  return bases;
}

/**
 * Returns the places of children that get tables in the drawing although the last version read them in the row above. Their columns there
 * would get no new values.
 */
export function unfoldedPlaces({ unfolded }: Drawing, history: NameHistory): readonly string[] {
  return unfolded
    .filter(({ table, steps }) => history.hadColumns(table.usePath, table.usePath + steps))
    .map(({ place }) => place);
}

// Decides which rows have the keys of their children if an earlier version of the model has tables for both: existing keys stay.

/**
 * Returns which end has the key. `parent`, `child`: paths of tables; `steps`: from the row to the child. True: the row has the key of its
 * child; false: the child has that of its parent; null: unknown.
 */
export type HeldKeys = (parent: string, child: string, steps: string) => boolean | null;

export function earlierHeldKeys(history: NameHistory): HeldKeys {
  return (parent, child, steps) => {
    const held = history.column(parent, useText('child_key', parent + steps, child));
    const own = history.column(child, useText('parent_key', parent + steps, parent));
    const united = history.column(child, useText('parent_key', parent, parent));
    // if the last version did not have the united key, its uses are not known
    const isUnited = united !== undefined && (united.roles?.includes(steps.slice(1)) ?? true);
    if (held === undefined && own === undefined && !isUnited) return null;
    // if both keys exist, the one that the last version had
    return held !== undefined && (own === undefined || own.former || !held.former);
  };
}
