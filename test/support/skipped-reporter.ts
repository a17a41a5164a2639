/** The end of every run: what was skipped, by what is missing, and why. */
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';
import type { Lack } from './needs.ts';

interface Skipped {
  tests: number;
  readonly files: Set<string>;
}

export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const text = skippedTable(modules);
    if (text !== '') process.stdout.write(`\n${text}\n`);
  }
}

/** '' where nothing was skipped. */
function skippedTable(modules: readonly TestModule[]): string {
  const found = new Map<string, Skipped>();
  let total = 0;
  for (const module of modules)
    for (const test of module.children.allTests('skipped')) {
      const lack = lackOf(test);
      // those that a filter by name left out
      if (lack === null) continue;
      total += 1;
      const key = JSON.stringify([lack.part, lack.why]);
      const entry = found.get(key) ?? { tests: 0, files: new Set() };
      entry.tests += 1;
      entry.files.add(module.relativeModuleId);
      found.set(key, entry);
    }
  if (total === 0) return '';
  const rows = [...found].map(([key, { tests, files }]) => {
    const [part, why] = JSON.parse(key) as [string, string];
    return [part, String(tests), String(files.size), why];
  });
  const shown = [
    ['missing', 'tests', 'files', 'why'],
    ...rows.toSorted(([a = ''], [b = '']) => a.localeCompare(b)),
  ];
  const widths = [0, 1, 2].map((at) => Math.max(...shown.map((row) => row[at]!.length)));
  const lines = shown.map(([part = '', tests = '', files = '', why = '']) =>
    [part.padEnd(widths[0]!), tests.padStart(widths[1]!), files.padStart(widths[2]!), why].join('  '),
  );
  return [`Skipped: ${total} ${total === 1 ? 'test' : 'tests'}`, ...lines.map((line) => `  ${line}`)].join(
    '\n',
  );
}

/** Of the test, or of the group around it. */
function lackOf(test: TestCase): Lack | null {
  const own = test.meta().lacks;
  if (own !== undefined) return own;
  let around: TestSuite | TestModule = test.parent;
  while (around.type === 'suite') {
    const { lacks } = around.meta();
    if (lacks !== undefined) return lacks;
    around = around.parent;
  }
  return null;
}
