/** Faults of the file system, as they are told. */
import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { fileFault } from '../../../src/storage/staging/durable-file.ts';

it.each([
  ['read', 'it, or a file of it, does not exist; name its current place (ENOENT)'],
  ['written', 'nothing can be created there'],
] as const)('a file that is not there is told of as what cannot be %s', async (what, why) => {
  const error = await readFile('/nowhere/at/all').catch((fault: unknown) => fault);
  expect(fileFault(error, 'rows', what)).toMatchObject({
    code: 'target_not_allowed',
    message: expect.stringContaining(`rows: cannot be ${what}: ${why}`),
  });
});

it('a source on a read-only file system is told of with what to do', () => {
  const error = Object.assign(new Error('read-only'), { code: 'EROFS' });
  expect(fileFault(error, 'rows', 'read')).toMatchObject({
    message: expect.stringContaining(
      'it is locked while it is read, and its file system is read-only; copy it',
    ),
  });
  expect(fileFault(error, 'rows')).toMatchObject({
    message: 'rows: cannot be written: its file system is read-only; name another place (EROFS).',
  });
});

it('a file of DuckDB that cannot be opened is reported with what to do', () => {
  const error = new Error('IO Error: Cannot open file "/mnt/rows.duckdb": Read-only file system');
  expect(fileFault(error, 'rows.duckdb')).toMatchObject({
    code: 'target_not_allowed',
    message: 'rows.duckdb: cannot be written: its file system is read-only; name another place.',
  });
});
