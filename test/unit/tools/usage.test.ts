/** Help texts. */
import { describe, expect, it } from 'vitest';
import { optionGroups, toolOptions } from '../../../src/service/jobs/option-table.ts';
import { requestDefaults } from '../../../src/service/jobs/request/tool-request.ts';
import { tools } from '../../../src/service/jobs/request/tools.ts';
import { helpOf } from '../../../src/tools/cli/help.ts';

/** options whose value is one of a few words, and the word that holds without them */
const defaults: readonly (readonly [flag: string, word: string])[] = [
  ['--savemode', requestDefaults.saveMode],
  ['--keys', requestDefaults.keys],
  ['--unmapped', requestDefaults.unmapped],
  ['--on-error', requestDefaults.onError],
  ['--tables', requestDefaults.tables],
  ['--missing', requestDefaults.missing],
  ['--engine', requestDefaults.engine],
];

/** The lines of each option, joined, by its long name. */
function optionsIn(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let open: string | null = null;
  for (const line of text.split('\n')) {
    const named = /^ {2}(?:-\w, | {4})(--[\w-]+)/.exec(line)?.[1];
    if (named !== undefined) open = named;
    else if (!line.startsWith(' '.repeat(33))) open = null;
    if (open !== null) found.set(open, `${found.get(open) ?? ''} ${line.trim()}`.trim());
  }
  return found;
}

describe('options', () => {
  it('are each in one group', () => {
    const grouped = Object.values(optionGroups).flat();
    expect(grouped.toSorted()).toEqual(toolOptions.map(({ long }) => long).toSorted());
  });
});

describe.each(tools)('--help of %s', (tool) => {
  it('has, as `--help all`, each of its options once, and what holds without those that are a choice', () => {
    const options = optionsIn(helpOf(tool, true));
    expect([...options.keys()].toSorted()).toEqual(
      toolOptions.flatMap(({ long, tools: of }) => (of.includes(tool) ? [long] : [])).toSorted(),
    );
    for (const [flag, word] of defaults)
      expect(options.get(flag) ?? `${word} (default)`).toContain(`${word} (default)`);
  });

  it('fits a screen, and says how many options it leaves out', () => {
    const [short, all] = [helpOf(tool, false), helpOf(tool, true)];
    expect(short.split('\n').length).toBeLessThanOrEqual(62);
    const left = optionsIn(all).size - optionsIn(short).size;
    expect(short).toContain(left === 0 ? 'Examples:' : `${tool} --help all: ${left} more options`);
  });

  it('has lines of at most 120 characters', () => {
    const long = helpOf(tool, true)
      .split('\n')
      .filter((line) => line.length > 120);
    expect(long).toEqual([]);
  });

  it('explains the words that its own usage holds, and no others', () => {
    const [first, , ...rest] = helpOf(tool, true).split('\n');
    const explained = rest.flatMap((line) => /^([A-Z]+) is /.exec(line)?.[1] ?? []);
    expect(explained).toEqual(
      tool === 'xml2er' ? ['INPUT', 'TARGET'] : [/\b(INPUT|TARGET)\b/.exec(first!)![1]],
    );
  });
});
