/** Rows as aligned text. */

const maxCell = 34;

/** Numbers to the right, all else to the left; null is left empty; long values end in an ellipsis. */
export function formatTable(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  const [first] = rows;
  if (first === undefined) return ['(no rows)'];
  const names = Object.keys(first);
  const cells = rows.map((row) => names.map((name) => cell(row[name])));
  const numeric = names.map((_, column) => cells.every((row) => /^-?\d*\.?\d*$/.test(row[column]!)));
  const widths = names.map((name, column) =>
    Math.max(name.length, ...cells.map((row) => [...row[column]!].length)),
  );
  const line = (values: readonly string[]): string =>
    values
      .map((value, column) => {
        const gap = ' '.repeat(widths[column]! - [...value].length);
        return numeric[column]! ? gap + value : value + gap;
      })
      .join('  ')
      .trimEnd();
  return [line(names), widths.map((width) => '-'.repeat(width)).join('  '), ...cells.map(line)];
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = value instanceof Date ? value.toISOString().slice(0, 10) : String(value);
  const characters = [...text];
  return characters.length > maxCell ? `${characters.slice(0, maxCell - 1).join('')}…` : text;
}
