/** Folders that are read for people: only rows of the manifest, and no state between two jobs. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { ColumnType } from '../../../src/engine/model/relational-model.ts';
import type { OpenedTarget } from '../../../src/ports/target-reader.ts';
import { openReadOnlyFolder } from '../../../src/targets/files/folder/read-only.ts';
import { journalName, manifestName } from '../../../src/targets/files/place/journal.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let directory: string;

const text = 'item_key,label\n1,one\n2,two\n';
const file = {
  name: 'item.csv',
  job_uuid: 'a',
  job: 1,
  rows: 2,
  bytes: text.length,
  sha256: '',
  columns: ['item_key', 'label'],
};
const manifest = {
  version: 1,
  format: 'csv',
  jobs: [],
  keys: {},
  tables: [
    { name: 'item', rows: 2, files: [file], text_columns: [], nullable_columns: [], zoned_columns: [] },
  ],
};
const types: readonly { readonly name: string; readonly type: ColumnType }[] = [
  { name: 'item_key', type: { kind: 'bigint' } },
  { name: 'label', type: { kind: 'text' } },
];

beforeEach(async () => {
  directory = await trial.folder('read-only-');
  await mkdir(join(directory, 'spill'));
  await writeFile(join(directory, manifestName), JSON.stringify(manifest));
  await writeFile(join(directory, 'item.csv'), text);
  await writeFile(join(directory, 'item.2-beef.csv'), 'item_key,label\n3,not published\n');
});

const open = (): Promise<OpenedTarget> =>
  openReadOnlyFolder({
    directory,
    label: 'items',
    spill: join(directory, 'spill'),
    typesOf: async () => ({ item: types }),
  });

async function rowsOf(target: OpenedTarget, sql: string): Promise<unknown[]> {
  try {
    return await Array.fromAsync((await target.query(sql)).rows);
  } finally {
    await target.close();
  }
}

it('shows the rows of the manifest, with the types of the model', async () => {
  expect(await rowsOf(await open(), 'select * from item order by item_key')).toEqual([
    [1, 'one'],
    [2, 'two'],
  ]);
});

it.each(['item.csv', 'item.2-beef.csv', 'manifest.json'])('reads no file by its name: %s', async (name) => {
  for (const path of [name, join(directory, name)])
    await expect(rowsOf(await open(), `select * from item, '${path}'`)).rejects.toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('may not use the file') as unknown,
    });
});

it('waits for no job that publishes, and notices one that did', async () => {
  const target = await open();
  expect(await target.isUnchanged!()).toBe(true);
  await writeFile(join(directory, manifestName), JSON.stringify({ ...manifest, keys: { item: 2 } }));
  expect(await target.isUnchanged!()).toBe(false);
  await target.close();
  await writeFile(join(directory, journalName), '{}');
  await expect(open()).rejects.toMatchObject({ code: 'service_unavailable' });
  await rm(join(directory, journalName));
  await (await open()).close();
});

it('is not there without a manifest, and says what it cannot read', async () => {
  await writeFile(join(directory, manifestName), JSON.stringify({ ...manifest, format: 'xlsx' }));
  await expect(open()).rejects.toMatchObject({ code: 'unprocessable_input' });
  await rm(join(directory, manifestName));
  await expect(open()).rejects.toMatchObject({ code: 'not_found' });
  await rm(directory, { recursive: true });
  await expect(open()).rejects.toMatchObject({ code: 'not_found' });
});

it('names the tables that there are', async () => {
  const target = await open();
  await expect(target.page({ table: 'items', page: 0, size: 1 })).rejects.toMatchObject({
    code: 'not_found',
    message: 'the target has no table or view "items": it has "item"',
  });
  await target.close();
});
