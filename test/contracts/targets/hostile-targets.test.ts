/** Folders whose owner wishes the service ill: manifests, journals and links that lead out, and paths that change while they are used. */
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createFolderRowSource } from '../../../src/targets/files/folder/source.ts';
import type { TargetManifest } from '../../../src/targets/files/folder/manifest.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import { createDocumentFolder } from '../../../src/tools/write-back/output-files.ts';
import { libraryPlan, loadLibrary } from './library-rows.ts';

let folders = '';
let number = 0;
/** the target, and what must stay as it is */
let directory = '';
let outside = '';
const victim = 'kept as it is';

beforeAll(async () => {
  folders = await realpath(await mkdtemp(join(tmpdir(), 'hostile-targets-')));
});
afterAll(() => rm(folders, { recursive: true, force: true }));
beforeEach(async () => {
  const root = join(folders, String((number += 1)));
  directory = join(root, 'target');
  outside = join(root, 'outside');
  await mkdir(directory, { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, 'victim.csv'), victim);
});

const createSink = (refuseLinks = true): RowSink =>
  createFolderRowSink({ directory, format: 'csv', refuseLinks });

async function load(sink: RowSink, ...plan: Parameters<typeof libraryPlan>): Promise<void> {
  try {
    await loadLibrary(sink, libraryPlan(...plan), 1);
  } finally {
    await sink.close();
  }
}

async function outsideIsUntouched(): Promise<void> {
  expect(await readdir(outside)).toEqual(['victim.csv']);
  expect(await readFile(join(outside, 'victim.csv'), 'utf8')).toBe(victim);
}

async function swap(): Promise<void> {
  await rename(directory, `${directory}-before`);
  await symlink(outside, directory);
}

async function changeManifest(change: (manifest: TargetManifest) => unknown): Promise<void> {
  const path = join(directory, 'manifest.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as TargetManifest;
  await writeFile(path, JSON.stringify(change(manifest)));
}

const renamed = (manifest: TargetManifest, name: unknown): unknown => ({
  ...manifest,
  tables: manifest.tables.map((table) => ({
    ...table,
    files: table.files.map((file) => (file.name.startsWith('book') ? { ...file, name } : file)),
  })),
});

describe('a manifest whose names lead out', () => {
  it.each([
    '../outside/victim.csv',
    '/etc/passwd',
    '..',
    '.svc-lock',
    'a/b.csv',
    'a\\b.csv',
    'a\nb.csv',
    '',
    7,
  ])('%j is refused by overwrites and by readers', async (name) => {
    await load(createSink(), 1);
    await changeManifest((manifest) => renamed(manifest, name));
    const before = (await readdir(directory)).toSorted();
    await expect(load(createSink(), 2, { saveMode: 'overwrite' })).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(createFolderRowSource({ directory }).open(libraryPlan(1).model)).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await readdir(directory)).toSorted()).toEqual(before);
    await outsideIsUntouched();
  });

  it.each([null, [], { version: 1 }, { version: 1, format: 'exe', jobs: [], keys: {}, tables: [] }])(
    'is no manifest: %j',
    async (content) => {
      await writeFile(join(directory, 'manifest.json'), JSON.stringify(content));
      await expect(load(createSink(), 2)).rejects.toMatchObject({ code: 'conflict' });
    },
  );
});

describe('a manifest that does not tell how long files are', () => {
  it.each([undefined, null, 'long', -1, 0, 1e300, Infinity])(
    'has them read all the same: %j',
    async (bytes) => {
      await load(createSink(), 1);
      await changeManifest((manifest) => ({
        ...manifest,
        tables: manifest.tables.map((table) => ({
          ...table,
          files: table.files.map((file) => ({ ...file, bytes })),
        })),
      }));
      // JSON.parse takes what JSON.stringify does not write
      const path = join(directory, 'manifest.json');
      if (bytes === Infinity)
        await writeFile(path, (await readFile(path, 'utf8')).replaceAll('"bytes":null', '"bytes":1e999'));
      const source = createFolderRowSource({ directory });
      try {
        await source.open(libraryPlan(1).model);
        expect((await Array.fromAsync(source.documents())).map(({ name }) => name)).toEqual([
          'job 1 file 1.xml',
        ]);
      } finally {
        await source.close();
      }
    },
  );
});

describe('a journal that somebody else wrote', () => {
  it.each([
    { staging: '../outside' },
    { staging: '.svc-staging-/../../outside' },
    { remove: ['../outside/victim.csv'] },
    { files: ['../outside/victim.csv'] },
    {
      manifest: {
        version: 1,
        format: 'csv',
        jobs: [],
        keys: {},
        tables: [
          {
            name: '_documents',
            rows: 0,
            files: [{ name: '../x', columns: [] }],
            text_columns: [],
            nullable_columns: [],
          },
        ],
      },
    },
  ])('%j is not carried out', async (part) => {
    const manifest = { version: 1, format: 'csv', jobs: [], keys: {}, tables: [] };
    const journal = { staging: '.svc-staging-1', files: [], remove: [], manifest, ...part };
    await writeFile(join(directory, '.svc-publish.json'), JSON.stringify(journal));
    await expect(load(createSink(), 2)).rejects.toMatchObject({ code: 'conflict' });
    await outsideIsUntouched();
  });
});

describe('links in a target', () => {
  it('that stand where files are written are replaced, not followed', async () => {
    const names = ['manifest.json.new', '.manifest.json.new', '.load.sql.new', '.svc-publish.json.new'];
    for (const name of names) await symlink(join(outside, 'victim.csv'), join(directory, name));
    await load(createSink(), 1);
    await outsideIsUntouched();
  });

  it('that stand where files are listed are not read', async () => {
    await load(createSink(), 1);
    for (const name of ['book.csv', '_documents.csv']) {
      await rm(join(directory, name));
      await symlink(join(outside, 'victim.csv'), join(directory, name));
      await expect(createFolderRowSource({ directory }).open(libraryPlan(1).model)).rejects.toMatchObject({
        code: 'target_not_allowed',
      });
    }
    const sink = createSink();
    await sink.open(libraryPlan(2));
    await expect(sink.loadedDocuments(['0'.repeat(64)])).rejects.toMatchObject({
      code: 'target_not_allowed',
    });
    await sink.close();
  });

  it('that stand for the manifest or a DuckDB file are not followed', async () => {
    await writeFile(join(outside, 'manifest.json'), '{}');
    await symlink(join(outside, 'manifest.json'), join(directory, 'manifest.json'));
    await expect(load(createSink(), 1)).rejects.toMatchObject({ code: 'target_not_allowed' });
    for (const name of ['rows.duckdb', 'rows.duckdb.wal']) {
      await symlink(join(outside, 'new.duckdb'), join(directory, name));
      const sink = createDuckDbRowSink({ file: join(directory, 'rows.duckdb'), refuseLinks: true });
      await expect(load(sink, 1)).rejects.toMatchObject({ code: 'target_not_allowed' });
      await rm(join(directory, name));
    }
    expect(await readdir(outside)).toEqual(['manifest.json', 'victim.csv']);
  });
});

describe('a path that becomes a link', () => {
  it('before it is opened is refused', async () => {
    await swap();
    const sinks = [
      createSink(),
      createDuckDbRowSink({ file: join(directory, 'x.duckdb'), refuseLinks: true }),
    ];
    for (const sink of sinks) await expect(load(sink, 1)).rejects.toMatchObject({ code: 'path_not_allowed' });
    const source = createFolderRowSource({ directory, refuseLinks: true });
    await expect(source.open(libraryPlan(1).model)).rejects.toMatchObject({ code: 'path_not_allowed' });
    await outsideIsUntouched();
    // a person's own links lead where they lead
    await load(createSink(false), 1);
    expect(await readdir(outside)).toContain('book.csv');
  });

  it.each(['csv', 'parquet'] as const)(
    'after it was opened changes nothing for a folder of %s',
    async (format) => {
      const sink = createFolderRowSink({ directory, format, refuseLinks: true });
      let swapped = false;
      const open = sink.open.bind(sink);
      sink.open = async (plan) => {
        const outcome = await open(plan);
        await swap();
        swapped = true;
        return outcome;
      };
      await load(sink, 1);
      expect(swapped).toBe(true);
      expect(await readdir(`${directory}-before`)).toContain(`book.${format}`);
      await outsideIsUntouched();
    },
  );

  it('after it was opened changes nothing for a DuckDB file', async () => {
    const sink = createDuckDbRowSink({ file: join(directory, 'rows.duckdb'), refuseLinks: true });
    const open = sink.open.bind(sink);
    sink.open = async (plan) => {
      const outcome = await open(plan);
      await swap();
      return outcome;
    };
    await load(sink, 1);
    expect(await readdir(`${directory}-before`)).toEqual(['rows.duckdb']);
    await outsideIsUntouched();
  });

  it('between the check and the file keeps a document from being written', async () => {
    const folder = createDocumentFolder({
      directory,
      existing: 'replace',
      resolvePath: async (path) => {
        await swap();
        return path;
      },
      links: 'refuse',
    });
    const written = folder.write(folder.nameFor('a.xml'), (consume) =>
      consume(new TextEncoder().encode('<a/>')),
    );
    await expect(written).rejects.toMatchObject({ code: 'path_not_allowed' });
    await outsideIsUntouched();
  });
});
