/** The longest record of a file, found without reading its records. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { longestRecord } from '../../../src/adapters/folder/longest-record.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longest-record-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

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
  expect(await longestRecord(path, quoted)).toBe(expected);
});
