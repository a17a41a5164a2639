/** The log of a driver that runs elsewhere, read while it is written. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { followFile } from '../../../../src/tools/load/spark/orders.ts';
import { eventually } from '../../../support/service/waiting.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'follow-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('gives each line once, in order, also those that come in pieces, and the last one without an end', async () => {
  const path = join(folder, 'driver.log');
  const lines: string[] = [];
  const following = followFile(path, (line) => lines.push(line));
  const [before, after] = [
    Buffer.from('first\nzwölf').subarray(0, 9),
    Buffer.from('first\nzwölf').subarray(9),
  ];
  await appendFile(path, before);
  await eventually('the first line', () => (lines.length === 1 ? true : null));
  await appendFile(path, after);
  await appendFile(path, `\n${'long '.repeat(40_000)}\n\nlast`);
  await following.end();
  expect(lines).toEqual(['first', 'zwölf', 'long '.repeat(40_000), '', 'last']);
});

it('waits for a file that never comes no longer than it is told to', async () => {
  const lines: string[] = [];
  await followFile(join(folder, 'none'), (line) => lines.push(line)).end();
  expect(lines).toEqual([]);
});
