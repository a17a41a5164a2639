/** The part of README.md that holds what the bench measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const readme = join(import.meta.dirname, '../../README.md');
const marks = {
  goals: ['<!-- measured: npm run bench -- --readme -->', '<!-- end of measured -->'],
  spark: ['<!-- measured: npm run bench -- --spark --readme -->', '<!-- end of measured on Spark -->'],
} as const;

/** Replaces the lines between the marks of a part. */
export function putIntoReadme(part: keyof typeof marks, lines: readonly string[]): void {
  const [start, end] = marks[part];
  const text = readFileSync(readme, 'utf8');
  const [before, rest] = splitAt(text, start);
  const [, after] = splitAt(rest, end);
  writeFileSync(readme, [before, start, '\n\n', lines.join('\n'), '\n\n', end, after].join(''));
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`README.md has no line ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}
