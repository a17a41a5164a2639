/** Walks through a page as a reader would: runs its commands and queries in order, and compares the output that the page shows. */
import { readText } from '../../rules/project-files.ts';
import { readBlocks, type CodeBlock } from './blocks.ts';
import { runShell, type ShellEnvironment } from './shell.ts';

export interface WalkOptions {
  readonly environment: ShellEnvironment;
  /** the folder that takes the place of `/tmp` in the page */
  readonly folder: string;
  /** Returns the printed lines of a query, which the page has in a block `sql`. */
  readonly query?: (sql: string) => Promise<readonly string[]>;
  /** Returns true for a block that the walk leaves out, such as an installation. */
  readonly skip?: (block: CodeBlock) => boolean;
  /** Changes a command before it runs, such as an address that a reader would choose. */
  readonly adapt?: (code: string) => string;
}

/** Pages of docs/how-to whose steps need no server, in test/e2e/readme/how-to.test.ts. */
export const localPages: readonly string[] = [
  'ci.md',
  'convert.md',
  'csv-and-json-lines.md',
  'delta.md',
  'excel.md',
  'iceberg.md',
  'inputs.md',
  'large-files.md',
  'load-again.md',
  'parquet.md',
  'validate.md',
];

const walkedPages: ReadonlySet<string> = new Set([
  'docs/tutorial/your-own-file.md',
  ...[...localPages, 'duckdb.md', 'iso-20022.md', 'mysql.md', 'netex.md', 'postgresql.md', 'sqlite.md'].map(
    (name) => `docs/how-to/${name}`,
  ),
]);

/** Whether a test walks through the page. */
export function isWalked(page: string): boolean {
  return walkedPages.has(page);
}

/** A command or query of a page, and the output that the page shows for it; null if it shows none. */
interface Step {
  readonly block: CodeBlock;
  readonly shown: string | null;
}

/** The steps of a page, in order. A block `text` right behind a command is its output. */
export function stepsOf(page: string): Step[] {
  const blocks = readBlocks(readText(page));
  return blocks.flatMap((block, index): Step[] => {
    if (block.language !== 'sh' && block.language !== 'sql') return [];
    const next = blocks[index + 1];
    const isOutput = next?.language === 'text' && next.heading === block.heading;
    return [{ block, shown: isOutput ? next.code : null }];
  });
}

/** Durations differ from run to run, and so do numbers of jobs and schemas. */
const steady = (line: string): string =>
  line
    .trim()
    .replaceAll(/\d+\.\d+ s\b/g, 'N s')
    .replaceAll(/\b(job|origin|logical|schema) \d+/g, '$1 N');

/** Returns the shown lines that the output does not have, in this order; a line `…` stands for any number of lines. */
export function missingLines(shown: string, output: string): string[] {
  const lines = output.split('\n').map(steady);
  let at = 0;
  return shown
    .trimEnd()
    .split('\n')
    .map(steady)
    .filter((line) => {
      if (line === '…') return false;
      const found = lines.indexOf(line, at);
      if (found >= 0) at = found + 1;
      return found < 0;
    });
}

/** Runs the steps of a page; returns a description of each step whose command failed, or whose output differs. */
export async function walk(page: string, options: WalkOptions): Promise<string[]> {
  if (!isWalked(page)) throw new Error(`${page} is not among the pages that are walked`);
  const { environment, folder, query, skip = () => false, adapt = (code) => code } = options;
  const faults: string[] = [];
  for (const { block, shown } of stepsOf(page).filter((step) => !skip(step.block))) {
    const code = adapt(block.code.replaceAll(/(?<![\w.])\/tmp\//g, `${folder}/`));
    const { exit, output } = await runStep(block.language, code, environment, query);
    const missing = shown === null ? [] : missingLines(shown.replaceAll('/tmp/', `${folder}/`), output);
    if (exit !== 0 || missing.length > 0)
      faults.push(
        `${page}, ${block.heading}:\n${code}\nexit ${exit}, lines missing:\n${missing.join('\n')}\noutput:\n${output}`,
      );
  }
  return faults;
}

async function runStep(
  language: string,
  code: string,
  environment: ShellEnvironment,
  query: WalkOptions['query'],
): Promise<{ readonly exit: number | null; readonly output: string }> {
  if (language === 'sh') {
    const { code: exit, output } = await runShell(code, environment);
    return { exit, output };
  }
  if (query === undefined) throw new Error(`no database for ${code}`);
  return { exit: 0, output: (await query(code)).join('\n') };
}
