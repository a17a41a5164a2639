/** The same documents into every target, and folders loaded by their own scripts: the rows must be the same by value. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convert } from '../../support/service/tools.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { formats, loadEveryTarget, targetTests, type EveryTarget } from './every-target.ts';
import type { CanonicalRow } from './values.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/', import.meta.url));

const trial = useTrial();
let home: ServiceHome;
let targets: EveryTarget;

beforeAll(async () => {
  home = await trial.home();
  const { origin } = await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3');
  // one job each: keys go on where the last one ended, columns widen on the way
  const jobs = ['first.xml', 'second.xml', 'third.xml'].map((name) => [join(fixtures, name)]);
  targets = await loadEveryTarget(home, origin!, jobs);
}, 240_000);

afterAll(async () => {
  await targets?.drop();
});

async function item(id: string): Promise<CanonicalRow> {
  return (await targets.rows('duckdb', 'item'))!.find((row) => row.id === id)!;
}

for (const [target, options] of targetTests)
  describe(target, options, () => {
    test('holds the rows that PostgreSQL holds', async () => {
      for (const { name } of targets.model.tables) {
        const expected = await targets.rows('postgresql', name);
        const rows = await targets.rows(target, name);
        // a script makes the tables without rows, too
        if (rows === null || rows.length > 0) expect(rows, name).toEqual(expected);
        else expect(expected ?? [], name).toEqual([]);
      }
    });

    test.each(['_documents', '_unmapped', '_lexical'])('holds the same %s', async (table) => {
      const expected = await targets.rows('postgresql', table);
      expect(expected!.length).toBeGreaterThan(0);
      expect(await targets.rows(target, table)).toEqual(expected);
    });
  });

describe('what all of them hold', () => {
  test('decimals keep their digits', async () => {
    const { huge, exact, counter, money } = await item('plain');
    expect([huge, exact, counter, money]).toEqual([
      '123456789012345678901234567890123456789012345678901234567890',
      '98765432109876543210.5',
      '18446744073709551615',
      '1234567890123456.789',
    ]);
    expect((await item('zoned')).amount).toBe('0.00000000000000000000000000000000000001');
  });

  test('empty, nil and absent are three things', async () => {
    const notes = await Promise.all(
      ['empty', 'zoned', 'absent'].map(async (id) => {
        const { note, note_nil: nil } = await item(id);
        return [note, nil];
      }),
    );
    expect(notes).toEqual([
      ['', null],
      [null, 'true'],
      [null, null],
    ]);
  });

  test('text arrives as it was, whatever some format would make of it', async () => {
    expect((await item('zoned')).text).toBe(
      'tab\tline\nreturn\r\\N \\. \\t back\\slash "double" \'single\' , ; | 😀 \u{10FFFF} é ﷽  two  spaces <b>',
    );
    expect((await item('zoned')).label).toBe('tab\tfeed\nreturn\rend');
    expect((await item('backslash-n')).text).toBe('\\N');
    expect((await item('quote')).text).toBe('"');
  });

  test('lists are lists, item by item', async () => {
    const { signs, decimals } = await item('plain');
    expect(JSON.parse(signs!)).toEqual([
      'a,b',
      '"x"',
      '\\',
      '{}',
      ',',
      '","',
      '\\"',
      "'",
      'NULL',
      '😀',
      '\\N',
      ';',
    ]);
    expect(JSON.parse(decimals!)).toEqual(['0.1', '12345678901234567890.123456789', '-5']);
    expect((await item('zoned')).numbers).toBe('[]');
    expect((await item('absent')).numbers).toBeNull();
  });

  test('what does not fit its column is there as text', async () => {
    const { amount, int, flag, day, numbers } = await item('broken');
    expect([amount, int, flag, day, numbers]).toEqual([
      'many',
      'n/a',
      'maybe',
      'some\tday',
      '["1","two","3"]',
    ]);
  });
});

test('nothing is left beside the file of a database: no log, no lock, no staged rows', async () => {
  const names = await readdir(join(home.directory, 'out'));
  expect(names.toSorted()).toEqual(
    ['values.duckdb', 'values.sqlite', 'delta', 'iceberg', ...formats].toSorted(),
  );
});
