/** Names that would be commands of psql, sqlite3 or mysql where the scripts of a folder let them: they are names. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { mysql } from '../../../src/engine/sql/dialects/mysql.ts';
import { postgresql } from '../../../src/engine/sql/dialects/postgresql.ts';
import { sqlite } from '../../../src/engine/sql/dialects/sqlite.ts';
import { physicalName } from '../../../src/engine/sql/physical-model.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { mariadbParts, startMariadb } from '../../support/servers/mariadb.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { needs, programOf } from '../../support/needs.ts';
import { at, libraryModel, oddColumns } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan, libraryRows, loadLibrary } from '../targets/library-rows.ts';

const canary = 'canary-of-a-shell';
const touch = `touch ${canary}`;
/** a table, then its columns */
const hostile: readonly (readonly string[])[] = [
  [
    `\\! ${touch}`,
    `\\\\! ${touch}`,
    '$$',
    `:'HOME'`,
    `\`; system ${touch}`,
    '"; drop table x; --',
    `' || 'x`,
  ],
  [
    `.shell ${touch}`,
    `\n.shell ${touch}\n`,
    `\n\\! ${touch}\n`,
    `\nsystem ${touch}\n`,
    `|${touch}`,
    '/* x',
    '-- x',
  ],
  [`\`${touch}\``, 'delimiter //', '@v1', ':name', '$x$', '%s', `x'\n\\. ${canary}\n`],
];

function renamed([table, ...columns]: readonly string[]): RelationalModel {
  return {
    ...libraryModel,
    tables: libraryModel.tables.map((one, index) =>
      index === at.odd
        ? {
            ...one,
            name: table!,
            xpath: `/x\n\\! ${touch}\n.shell ${touch}\n`,
            columns: one.columns.map((column) => {
              const place = (oddColumns as readonly string[]).indexOf(column.name);
              return place < 0
                ? column
                : { ...column, name: columns[place]!, xpath: `\n${columns[place]}\n` };
            }),
          }
        : one,
    ),
  };
}

const run = promisify(execFile);
let directory = '';
const folders: string[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hostile-names-'));
  folders.push(directory);
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true });
});

async function write(names: readonly string[], format: 'csv' | 'tsv' | 'jsonl'): Promise<void> {
  const sink = createFolderRowSink({ directory, format });
  try {
    await loadLibrary(sink, libraryPlan(1, { model: renamed(names) }), 1);
  } finally {
    await sink.close();
  }
}

const values = libraryRows(1, 1)
  .tables.get(at.odd)!
  .map((row) => row.slice(3));

async function noCommandWasRun(): Promise<void> {
  expect((await readdir(directory, { recursive: true })).filter((name) => name.startsWith(canary))).toEqual(
    [],
  );
}

describe.for(hostile)('%j', (names) => {
  test.for(['csv', 'tsv', 'jsonl'] as const)('psql, %s', needs('psql'), async (format) => {
    await write(names, format);
    const database = await createEmptyDatabase();
    try {
      await run(programOf('psql')!, ['-X', '-q', '-f', 'load.sql', database.url], { cwd: directory });
      const refused = format === 'jsonl' ? null : /[\0\r\n]/u;
      const table = physicalName({ ...postgresql, refusedCharacters: refused }, names[0]!);
      const rows = await database.sql.unsafe(`select * from ${postgresql.quote(table)} order by 1`).values();
      expect(rows.map((row) => (row as unknown[]).slice(3))).toEqual(values);
      await noCommandWasRun();
    } finally {
      await database.drop();
    }
  });

  test('sqlite3', needs('sqlite3'), async () => {
    await write(names, 'jsonl');
    const file = join(directory, 'loaded.sqlite');
    await run(programOf('sqlite3')!, [file, '.read load.sqlite.sql'], { cwd: directory });
    const database = new DatabaseSync(file);
    const rows = database.prepare(`select * from ${sqlite.quote(names[0]!)} order by 1`).all();
    database.close();
    expect(rows.map((row) => Object.values(row).slice(3))).toEqual(values);
    await noCommandWasRun();
  });

  test('MariaDB', needs(mariadbParts), async () => {
    await write(names, 'tsv');
    const server = await startMariadb();
    try {
      await server.run('CREATE DATABASE loaded;');
      await server.run(await readFile(join(directory, 'load.mysql.sql'), 'utf8'), directory, 'loaded');
      const count = await server.run(
        `SELECT count(*) FROM ${mysql.quote(physicalName(mysql, names[0]!))};`,
        directory,
        'loaded',
      );
      expect(Number(count.split('\n')[1])).toBe(values.length);
      await noCommandWasRun();
    } finally {
      await server.stop();
    }
  });
});
