/** The parts of docs/ that hold what the bench measured. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const parts = {
  goals: {
    page: 'docs/explanation/performance.md',
    start: '<!-- measured: npm run bench -- --readme -->',
    end: '<!-- end of measured -->',
  },
  standards: {
    page: 'docs/explanation/performance.md',
    start: '<!-- measured: npm run bench -- --standards --readme -->',
    end: '<!-- end of measured on standards -->',
  },
  spark: {
    page: 'docs/explanation/performance-on-spark.md',
    start: '<!-- measured: npm run bench -- --spark --readme -->',
    end: '<!-- end of measured on Spark -->',
  },
} as const;

/** Replaces the lines between the marks of a part. */
export function putIntoPage(part: keyof typeof parts, lines: readonly string[]): void {
  const { page, start, end } = parts[part];
  const file = join(import.meta.dirname, '../..', page);
  const [before, rest] = splitAt(readFileSync(file, 'utf8'), start, page);
  const [, after] = splitAt(rest, end, page);
  writeFileSync(file, [before, start, '\n\n', lines.join('\n'), '\n\n', end, after].join(''));
}

function splitAt(text: string, mark: string, page: string): [string, string] {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`${page} has no line ${mark}`);
  return [text.slice(0, at), text.slice(at + mark.length)];
}
