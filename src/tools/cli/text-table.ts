/**
 * Columns of text, as wide as their widest cell; control characters are shown as they are written in JSON. At a terminal that is narrower,
 * the widest columns are cut. `head` null: none.
 */
export function textTable(
  head: readonly string[] | null,
  rows: readonly (readonly string[])[],
  width = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
): string {
  const shown = rows.map((row) => row.map((cell) => cell.replaceAll(/\p{Cc}/gu, escaped)));
  const lines = head === null ? shown : [head, ...shown];
  const columns = lines[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...lines.map((line) => [...(line[column] ?? '')].length)),
  );
  fit(widths, width - gap.length * (columns - 1));
  return lines
    .map((line) =>
      line
        .map((cell, column) => padded(cell, widths[column]!))
        .join(gap)
        .trimEnd(),
    )
    .join('\n');
}

const gap = '  ';
/** no column is cut to less */
const narrowest = 8;

/** Shrinks the widest columns until the table fits. */
function fit(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= narrowest) return;
    widths[widest]! -= 1;
  }
}

function padded(cell: string, width: number): string {
  const characters = [...cell];
  if (characters.length > width) return `${characters.slice(0, width - 1).join('')}…`;
  return cell + ' '.repeat(width - characters.length);
}

/** Escapes a character that a terminal would interpret as a command. */
function escaped(character: string): string {
  return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
}
