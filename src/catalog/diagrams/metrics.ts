/** Sizes of a diagram in pixels; the drawing uses a fixed-width font of `fontSize`, whose characters are `characterWidth` wide. */
export const diagramMetrics = {
  characterWidth: 7.3,
  fontSize: 12,
  headerHeight: 26,
  rowHeight: 18,
  padding: 10,
  keyWidth: 26,
  columnGap: 110,
  rowGap: 26,
  margin: 24,
} as const;

/** The middle of a column's row, from the top of its table. */
export function rowMiddle(column: number): number {
  const { headerHeight, rowHeight } = diagramMetrics;
  return headerHeight + rowHeight * column + rowHeight / 2 + 3;
}
