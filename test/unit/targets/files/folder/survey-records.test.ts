/** What is told of a file of rows without reading its records: the longest of them, and whether keys ascend. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRecordsKernel } from '../../../../../src/engine/records/kernel/instance.ts';
import { surveyRecords } from '../../../../../src/targets/files/folder/text-tables.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'survey-records-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const kernel = createRecordsKernel()!;
/** Room for all of a file, and as little as there may be, which takes long for long ones. */
const buffersFor = (text: string): readonly Buffer[] =>
  (text.length < 1000 ? [1024 * 1024, 33, 20] : [256 * 1024]).map((bytes) => Buffer.alloc(bytes));

const long = 'x'.repeat(1_500_000);

it.each([
  ['nothing', '', false, 0],
  ['lines', 'a,b\nccc,d\ne\n', false, 6],
  ['a last line without an end', 'a\nbbbb', false, 4],
  ['a line that goes over pieces', `a\n${long}\nb\n`, false, long.length + 1],
  ['line breaks in quotes', 'a,b\n"1\n2\n3",4\nc,d\n', true, 10],
  ['quotes in quotes', '"a ""b""\nc",1\nd\n', true, 14],
  ['quotes that mean nothing', 'a"\nb\n', false, 3],
  ['a value in quotes that goes over pieces', `h\n"${long}\n${long}",1\n`, true, 2 * long.length + 6],
  ['bytes, not characters', 'äöü\n', false, 7],
])('%s', async (_, text, quoted, expected) => {
  const path = join(folder, 'rows');
  await writeFile(path, text);
  for (const buffer of buffersFor(text)) {
    expect((await surveyRecords(path, { format: quoted ? 'csv' : 'tsv' }, buffer)).longest).toBe(expected);
    expect((await surveyRecords(path, { format: quoted ? 'csv' : 'tsv' }, buffer, kernel)).longest).toBe(
      expected,
    );
  }
});

const many = Array.from({ length: 300_000 }, (_, n) => `${n * 7 + 1}\tx`).join('\n');
const none = null;
it.each([
  ['keys that ascend', 'k\ta\n1\tx\n2\tx\n10\tx\n', false, [1n, 10n]],
  ['one', 'k,a\n5,x\n', true, [5n, 5n]],
  ['a last record without an end', 'k,a\n5,x\n6,y', true, [5n, 6n]],
  ['a table of keys alone', 'k\n8\n9\n', false, [8n, 9n]],
  ['many, over pieces', `k\ta\n${many}\n`, false, [1n, 299_999n * 7n + 1n]],
  [
    'keys of 63 bits',
    'k\ta\n900719925474099301\tx\n9223372036854775807\tx\n',
    false,
    [900719925474099301n, 9223372036854775807n],
  ],
  ['line breaks in quotes', 'k,a\n1,"\n0,"\n2,x\n', true, [1n, 2n]],
  ['the header alone', 'k\ta\n', false, none],
  ['keys that go back', 'k\ta\n2\tx\n10\tx\n9\tx\n', false, none],
  ['a key twice', 'k\ta\n2\tx\n2\tx\n', false, none],
  ['negative keys', 'k\ta\n-2\tx\n3\tx\n', false, none],
  ['other than keys', 'k\ta\n1\tx\nx\tx\n', false, none],
  ['zeros before them', 'k\ta\n01\tx\n', false, none],
  ['numbers in quotes', 'k,a\n"1",x\n', true, none],
] as const)('%s', async (_, text, quoted, ends) => {
  const path = join(folder, 'rows');
  await writeFile(path, text);
  for (const buffer of buffersFor(text))
    for (const by of [null, kernel]) {
      const { keys } = await surveyRecords(path, { format: quoted ? 'csv' : 'tsv' }, buffer, by);
      expect(keys === null ? null : [keys.first, keys.last]).toEqual(ends);
    }
});

const lines = (keys: readonly unknown[], name = 'k'): string =>
  keys.map((key) => `{"${name}":${String(key)},"a":"x"}\n`).join('');
it.each([
  ['keys that ascend', lines([1, 2, 10]), [1n, 10n]],
  ['one', lines([5]), [5n, 5n]],
  ['a last record without an end', lines([5, 6]).trimEnd(), [5n, 6n]],
  ['a table of keys alone', '{"k":8}\n{"k":9}\n', [8n, 9n]],
  ['many, over pieces', lines(Array.from({ length: 100_000 }, (_, n) => n * 7 + 1)), [1n, 99_999n * 7n + 1n]],
  [
    'keys of 63 bits',
    lines(['900719925474099301', '9223372036854775807']),
    [900719925474099301n, 9223372036854775807n],
  ],
  ['nothing', '', none],
  ['keys that go back', lines([2, 10, 9]), none],
  ['a first key twice', lines([2, 2]), none],
  ['negative keys', lines([-2, 3]), none],
  ['keys in quotes', lines(['"1"', '"2"']), none],
  ['fractions', lines(['1.5', '2.5']), none],
  ['another first member', lines([1, 2], 'b'), none],
  ['a longer name', lines([1, 2], 'kk'), none],
  ['spaces', '{ "k":1}\n{ "k":2}\n', none],
  ['too short a line', '{"k":1}\n{}\n', none],
] as const)('of JSON Lines, %s', async (_, text, ends) => {
  const path = join(folder, 'rows');
  await writeFile(path, text);
  for (const buffer of text.length < 1000 ? [1024 * 1024, 64, 33] : [256 * 1024])
    for (const by of [null, kernel]) {
      const form = { format: 'jsonl', keyName: 'k' } as const;
      const { keys, longest } = await surveyRecords(path, form, Buffer.alloc(Number(buffer)), by);
      expect(keys === null ? null : [keys.first, keys.last]).toEqual(ends);
      expect(longest).toBe(Math.max(0, ...text.split(/(?<=\n)/).map(({ length }) => length)));
    }
});
