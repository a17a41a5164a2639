/** Sizes up to which a person would still read a row, and a database accept a table. */
export const drawingLimits = {
  /** paths written out before types used in several places start to share tables at every level */
  maxExpandedPaths: 5_000,
  /** the most columns that one child may add to its parent's row */
  maxFoldedColumns: 100,
  /** the same limit if types share tables for size, because a folded type is written out at every place */
  maxFoldedColumnsOfLargeSets: 24,
  /** the most columns of one row, including folded content: less than one table holds (src/engine/map/tables/wide-rows.ts) */
  maxRowColumns: 240,
  /** the most columns that substitution members or derived types may have together to share their head's table */
  maxUnionColumns: 200,
  maxUnionColumnsOfLargeSets: 48,
  /** the most places of a type without child elements that share one table */
  maxPlacesOfSharedLeaf: 1_500,
  /** number of branches of a choice from which each gets a table of its own, if each could be a document */
  fewestEntities: 8,
  /** the most parent keys that the tables below a wrapper may get in its place, all together */
  maxKeysForWrapper: 32,
} as const;
