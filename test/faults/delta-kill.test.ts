/** Jobs that fill Delta tables and are killed at any moment: each is there once or not at all, and every table can be read. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { deltaFiles, deltaReader } from '../contracts/row-sinks/readers.ts';
import { isHere } from '../support/needs.ts';
import { projectRoot } from '../support/service/start.ts';
import { useTrial } from '../support/service/trial.ts';

const kills = isHere('whole run') ? 40 : 1;
const trial = useTrial();

/** Answers the last job that was published for certain; `killAfterMs`: once it runs, null for never. */
async function loadJobs(
  directory: string,
  first: number,
  last: number,
  killAfterMs: number | null,
): Promise<number> {
  const script = join(projectRoot, 'test/fixtures/processes/loads-delta-tables.ts');
  const child = spawn(process.execPath, [script, directory, String(first), String(last)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([once(child.stdout, 'data'), closed]);
  if (killAfterMs !== null) {
    await Promise.race([sleep(killAfterMs), closed]);
    child.kill('SIGKILL');
  }
  const [code] = (await closed) as [number | null];
  if (killAfterMs === null) expect(code).toBe(0);
  const done = output.split('\n').slice(1, -1).map(Number);
  return done.at(-1) ?? first - 1;
}

it('no job is lost, none is there twice', { timeout: 60_000 + kills * 5_000 }, async () => {
  const directory = join(await trial.folder('delta-kill-'), 'lake');
  let job = 0;
  // whoever is killed is tried again under the same number
  for (let kill = 0; kill < kills; kill += 1)
    job = await loadJobs(directory, job + 1, job + 50, Math.random() * 700);
  const last = job + 2;
  expect(await loadJobs(directory, job + 1, last, null)).toBe(last);
  const reader = deltaReader(directory);
  const numbers = Array.from({ length: last }, (_, index) => String(index + 1));
  expect((await reader.read('_loads'))!.map((row) => row.job)).toEqual(numbers);
  expect((await reader.read('_documents'))!.map((row) => row.job)).toEqual(numbers);
  const books = (await reader.read('book'))!;
  expect(books).toHaveLength(2 * last);
  expect(new Set(books.map((row) => row.book_key)).size).toBe(2 * last);
  for (const name of await readdir(directory, { withFileTypes: true })) {
    expect(name.name).not.toMatch(/^\.svc-(?:staging|publish)/);
    if (!name.isDirectory()) continue;
    const listed = (await deltaFiles(join(directory, name.name))).map((path) => path.slice('data/'.length));
    expect((await readdir(join(directory, name.name, 'data'))).toSorted()).toEqual(listed.toSorted());
  }
});
