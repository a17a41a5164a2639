/** The path that a table of the model has in all its versions. */
import type { TableOrigin } from '../tables/model-builder.ts';

/** The location of several elements or types: in one table, or each in a table of its own whose rows refer to that one. */
export type Together = 'together' | 'apart';

/** A column that versions had for the names of the elements that the rows of a table are. */
export interface ElementNames {
  /** the column exists because of roles (`roleStep`), and not because of a substitution group or of several roots */
  readonly isOfRoles: boolean;
  /** the last version did not have the column */
  readonly former: boolean;
}

/** The tables of earlier versions of a model. */
export interface EarlierTables {
  hasPath(path: string): boolean;
  /** Returns whether the rows of a place below rows of `table` were in a table of their own and not in those rows. */
  hadTable(place: string, table: string): boolean;
  /** Returns whether the text of elements at a place in or below rows of `table` was in rows of its own and not in a column. */
  hadTextTable(place: string, table: string): boolean;
  /** Returns whether rows of the table had a column with that use in the last version. */
  hasColumn(table: string, use: string): boolean;
  /** Returns the location of the contents of a substitution group's members, whose names the table has; null if it has no such names. */
  members(table: string): Together | null;
  /** Returns the column that the table had for the names of the elements that its rows are; null if it had none. */
  elementNames(table: string): ElementNames | null;
  /**
   * Returns the location of the contents of the types that xsi:type may name in rows of the table, which is the declared type's table; null
   * if it has no names of types.
   */
  types(table: string): Together | null;
  /**
   * Returns the paths of the earlier tables that had the rows of a place, or rows below it: usually one, several if types of the parent row
   * declare the place differently, and none if no earlier table had them.
   */
  ofPlace(place: string): readonly string[];
  /** Keyed by the identity of a shared table in the drawing: the path of the earlier table that it continues. */
  readonly continued: ReadonlyMap<string, string>;
  /** Returns the path of the table that had the rows of all places of a type, from the paths of the type. */
  ofType(paths: readonly string[]): string | undefined;
}

export const noEarlierTables: EarlierTables = {
  hasPath: () => false,
  hadTable: () => false,
  hadTextTable: () => false,
  hasColumn: () => false,
  members: () => null,
  elementNames: () => null,
  types: () => null,
  ofPlace: () => [],
  continued: new Map(),
  ofType: () => undefined,
};

/** Returns the place of rows; the paths of the tables above it are settled. */
export function placeOf(origin: TableOrigin): string | undefined {
  return 'under' in origin ? origin.under.usePath + origin.steps : origin.declared[0];
}

/**
 * Gives each table of a drawing its path, parents before their children. A table that is declared under several paths (elements of one type
 * without a name) keeps the path by which an earlier version knew it; so does the only place of a type that had several.
 */
export class TablePaths {
  readonly #earlier: EarlierTables;
  readonly #settled = new Set<string>();

  constructor(earlier: EarlierTables) {
    this.#earlier = earlier;
  }

  /** Settles the path of a table. `kept`: the path of the earlier table that it continues. */
  settle(origin: TableOrigin, kept?: string): string {
    const path = kept ?? this.#newPath(origin);
    this.#settled.add(path);
    return path;
  }

  #newPath(origin: TableOrigin): string {
    const paths = 'under' in origin ? [origin.under.usePath + origin.steps] : origin.declared;
    const free = paths.filter((path) => !this.#settled.has(path));
    const isKnown = (path: string): boolean => !this.#settled.has(path) && this.#earlier.hasPath(path);
    const ofType = (): string | undefined =>
      this.#earlier === noEarlierTables ? undefined : origin.ofType?.().find((path) => isKnown(path));
    const path = free.find(isKnown) ?? ofType() ?? free[0];
    if (path !== undefined) return path;
    // a type that is redefined has the name of the original type
    for (let number = 2; ; number += 1) {
      const numbered = `${paths[0] ?? '/(element)'}~${number}`;
      if (!this.#settled.has(numbered)) return numbered;
    }
  }
}
