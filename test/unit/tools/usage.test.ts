/** Usage texts. */
import { describe, expect, it } from 'vitest';
import { toolOptions } from '../../../src/service/jobs/option-table.ts';
import { requestDefaults } from '../../../src/service/jobs/request/tool-request.ts';
import { tools } from '../../../src/service/jobs/request/tools.ts';
import { usageOf } from '../../../src/tools/cli/run-tool.ts';

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

describe('--help', () => {
  it.each(tools)('of %s names each of its options and what holds without those that are a choice', (tool) => {
    const text = usageOf(tool);
    for (const { long, tools: of } of toolOptions)
      expect([long, text.includes(` ${long} `)]).toEqual([long, of.includes(tool)]);
    for (const [flag, word] of defaults) {
      const own = new RegExp(String.raw`^ +(-\w, )?${flag} `);
      const line = text.split('\n').find((one) => own.test(one)) ?? `${word} (default)`;
      expect(line).toContain(`${word} (default)`);
    }
  });

  it('explains the words that its own usage holds, and no others', () => {
    for (const tool of tools) {
      const [first, , ...rest] = usageOf(tool).split('\n');
      const explained = rest.flatMap((line) => /^([A-Z]+) is /.exec(line)?.[1] ?? []);
      expect(explained).toEqual(
        tool === 'xml2er' ? ['INPUT', 'TARGET'] : [/\b(INPUT|TARGET)\b/.exec(first!)![1]],
      );
    }
  });
});
