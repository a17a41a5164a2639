/** Folders that are read where no lock can be made: on read-only media, or without the right to write. */
import { rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { readingTurn } from '../../../../../src/targets/files/folder/source.ts';
import { useTrial } from '../../../../support/service/trial.ts';

const trial = useTrial();
let folder: string;

beforeEach(async () => {
  folder = await trial.folder('reading-turn-');
  await writeFile(join(folder, 'manifest.json'), '{"jobs":[1]}');
});

const refused = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

it.each(['EROFS', 'EACCES', 'EPERM'])('is read where a lock ends in %s', async (code) => {
  const turn = await readingTurn(folder, 'rows', refused(code));
  await expect(turn.end()).resolves.toBeUndefined();
});

it('is not read where the lock has another fault', async () => {
  await expect(readingTurn(folder, 'rows', refused('EIO'))).rejects.toThrow('EIO');
});

it.each([
  ['manifest.json', '{"jobs":[1,2]}'],
  ['.svc-publish.json', '{}'],
])('tells that %s was written meanwhile', async (name, text) => {
  const turn = await readingTurn(folder, 'rows', refused('EROFS'));
  await writeFile(join(folder, name), text);
  await expect(turn.end()).rejects.toThrow(/^rows: a job published there while it was read.*run it again\.$/);
});

it('refuses what a job that died began to publish', async () => {
  await writeFile(join(folder, '.svc-publish.json'), '{}');
  await expect(readingTurn(folder, 'rows', refused('EACCES'))).rejects.toThrow(
    /^rows: a job died while it published there.*read it once with write permission, or load it again\.$/,
  );
});

it('waits for a job that writes, and for no dead one', async () => {
  const lock = join(folder, '.svc-lock');
  const holder = { token: 'own', host: hostname(), pid: process.pid, started: null };
  await writeFile(lock, JSON.stringify(holder));
  const turn = readingTurn(folder, 'rows', refused('EROFS'));
  expect(await Promise.race([turn, sleep(250, 'waits')])).toBe('waits');
  await rm(lock);
  await (await turn).end();
  await writeFile(lock, JSON.stringify({ ...holder, started: '1' }));
  await (await readingTurn(folder, 'rows', refused('EROFS'))).end();
});
