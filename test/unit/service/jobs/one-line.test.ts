/** Text of strangers in a line of a log. */
import { expect, it } from 'vitest';
import { oneLine } from '../../../../src/service/jobs/mask-secrets.ts';

it.each([
  ['plain\ttext é \u{1F600} «»', 'plain\ttext é \u{1F600} «»'],
  ['a\nfailed: b\r\n', 'a\\nfailed: b\\r\\n'],
  ['\u001b[31mred\u001b]0;title\u0007', '\\u{1b}[31mred\\u{1b}]0;title\\u{7}'],
  ['\u0085\u2028\u2029\u009b2J\u007f\u0000', '\\u{85}\\u{2028}\\u{2029}\\u{9b}2J\\u{7f}\\u{0}'],
  ['gpj.\u202elmx', 'gpj.\\u{202e}lmx'],
])('%j is one line that shows what it is', (text, shown) => {
  expect(oneLine(text)).toBe(shown);
});
