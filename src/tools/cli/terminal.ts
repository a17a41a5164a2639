/**
 * The output of a tool: plain lines in a log, a progress bar and tables of text on a terminal. Nothing is coloured, so there is no need to
 * check NO_COLOR.
 */
import type { PassProgress } from '../reports/progress-lines.ts';

export interface Terminal {
  /** writes a requested result */
  log(line: string): void;
  /** writes a notice; nothing with `--quiet` */
  tell(line: string): void;
  complain(line: string): void;
  /** `fraction` 0 … 1 */
  progress(fraction: number, done?: PassProgress): void;
  endProgress(): void;
  setQuiet(quiet: boolean): void;
}

const barWidth = 20;
/** between two drawings */
const everyMs = 100;
/** Period over which the speed is measured. */
const speedMs = 3000;

export function createTerminal(): Terminal {
  const isPerson = process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';
  let isQuiet = false;
  let shown = false;
  let last = 0;
  let begun: number | null = null;
  let pass: PassProgress['pass'] | null = null;
  let marks: { readonly at: number; readonly bytes: number }[] = [];
  const clear = (): void => {
    if (shown) process.stderr.write('\r\x1b[K');
    shown = false;
  };
  const log = (line: string): void => {
    clear();
    process.stdout.write(`${line}\n`);
  };
  return {
    log,
    tell(line) {
      if (!isQuiet) log(line);
    },
    complain(line) {
      clear();
      process.stderr.write(`${line}\n`);
    },
    progress(fraction, done) {
      const now = performance.now();
      begun ??= now;
      if (!isPerson || isQuiet || now - last < everyMs) return;
      last = now;
      if (done !== undefined && done.pass !== pass) [pass, marks] = [done.pass, []];
      if (done !== undefined) marks.push({ at: now, bytes: done.bytes });
      while (marks.length > 2 && now - marks[0]!.at > speedMs) marks.shift();
      const left = fraction > 0.01 ? ((now - begun) / fraction) * (1 - fraction) : null;
      const line = progressLine(Math.min(1, fraction), done, speedOf(marks), left);
      process.stderr.write(`\r${line.slice(0, (process.stderr.columns || 80) - 1)}\x1b[K`);
      shown = true;
    },
    endProgress: clear,
    setQuiet(quiet) {
      isQuiet = quiet;
    },
  };
}

/** Returns bytes per second, or null if it cannot be computed yet. */
function speedOf(marks: readonly { readonly at: number; readonly bytes: number }[]): number | null {
  const [first, end] = [marks[0], marks.at(-1)];
  if (first === undefined || end === undefined || end.at - first.at < everyMs) return null;
  return ((end.bytes - first.bytes) * 1000) / (end.at - first.at);
}

/** `speed` in bytes per second, `leftMs`: null if unknown. */
export function progressLine(
  fraction: number,
  done: PassProgress | undefined,
  speed: number | null,
  leftMs: number | null,
): string {
  const filled = Math.round(fraction * barWidth);
  const parts = [
    `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${String(Math.floor(fraction * 100)).padStart(3)} %`,
    ...(done === undefined ? [] : [done.pass]),
    ...(speed === null || done?.pass === 'publishing' ? [] : [`${(speed / 1e6).toFixed(1)} MB/s`]),
    ...(done?.rows == null ? [] : [`${done.rows} rows`]),
    ...(done === undefined ? [] : [`${done.documents} documents`]),
    ...(leftMs === null || fraction >= 1 ? [] : [`${timeOf(leftMs)} left`]),
  ];
  return parts.join('  ');
}

/** `1:02:03`, `0:07` */
function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

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
