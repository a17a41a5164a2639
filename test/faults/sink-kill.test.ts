/**
 * Jobs that fill Delta tables, a SQLite file or a database of MariaDB, and are killed at any moment, or whose server is: each is there
 * once or not at all, and every table can be read.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import {
  deltaFiles,
  deltaReader,
  icebergFiles,
  icebergReader,
  mysqlReader,
  type TargetReader,
} from '../contracts/row-sinks/readers.ts';
import { sqliteReader } from '../contracts/row-sinks/sqlite/reader.ts';
import { isHere, needs } from '../support/needs.ts';
import { mariadbParts, startDurableMariadb, type TestMariadb } from '../support/servers/mariadb.ts';
import { projectRoot } from '../support/service/start.ts';
import { useTrial } from '../support/service/trial.ts';

const kills = isHere('whole run') ? 50 : 1;
const trial = useTrial();

interface Place {
  readonly kind: 'delta' | 'iceberg' | 'sqlite' | 'mariadb';
  readonly path: string;
  readonly reader: TargetReader;
  /** nothing half lies there, and nothing of attempts that died */
  expectClean(): Promise<void>;
  /** what ends the work; absent: its process is killed */
  end?(): Promise<void>;
}

/** Answers the last job that was published for certain; `killAfterMs`: once it runs, null for never. */
async function loadJobs(
  { kind, path, end }: Place,
  first: number,
  last: number,
  killAfterMs: number | null,
): Promise<number> {
  const script = join(projectRoot, 'test/fixtures/processes/loads-tables.ts');
  const child = spawn(process.execPath, [script, kind, path, String(first), String(last)], {
    // whose server goes says so, and ends
    stdio: ['ignore', 'pipe', end !== undefined && killAfterMs !== null ? 'ignore' : 'inherit'],
  }) as ChildProcess & { readonly stdout: Readable };
  const closed = once(child, 'close');
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await Promise.race([once(child.stdout, 'data'), closed]);
  if (killAfterMs !== null) {
    await Promise.race([sleep(killAfterMs), closed]);
    if (end === undefined) child.kill('SIGKILL');
    else await end();
  }
  const [code] = (await closed) as [number | null];
  if (killAfterMs === null) expect(code).toBe(0);
  const done = output.split('\n').slice(1, -1).map(Number);
  return done.at(-1) ?? first - 1;
}

async function deltaPlace(): Promise<Place> {
  const path = join(await trial.folder('delta-kill-'), 'lake');
  return {
    kind: 'delta',
    path,
    reader: deltaReader(path),
    expectClean: async () => {
      for (const name of await readdir(path, { withFileTypes: true })) {
        expect(name.name).not.toMatch(/^\.svc-(?:staging|publish)/);
        if (!name.isDirectory()) continue;
        const files = await deltaFiles(join(path, name.name), 'any version');
        const listed = files.map((file) => file.slice('data/'.length));
        expect((await readdir(join(path, name.name, 'data'))).toSorted()).toEqual(listed.toSorted());
      }
    },
  };
}

async function icebergPlace(): Promise<Place> {
  const path = join(await trial.folder('iceberg-kill-'), 'lake');
  return {
    kind: 'iceberg',
    path,
    reader: icebergReader(path),
    expectClean: async () => {
      for (const name of await readdir(path, { withFileTypes: true })) {
        expect(name.name).not.toMatch(/^\.svc-(?:staging|publish)/);
        if (!name.isDirectory()) continue;
        const files = await icebergFiles(join(path, name.name), 'any version');
        const listed = files.map((file) => file.slice('data/'.length));
        expect((await readdir(join(path, name.name, 'data'))).toSorted()).toEqual(listed.toSorted());
        const metadata = await readdir(join(path, name.name, 'metadata'));
        const [lists, versions] = [/^snap-/, /\.metadata\.json$/].map(
          (kind) => metadata.filter((file) => kind.test(file)).length,
        );
        // a version each, with one list each: nothing of those that never came to be
        expect(lists).toBe(versions);
      }
    },
  };
}

async function sqlitePlace(): Promise<Place> {
  const path = join(await trial.folder('sqlite-kill-'), 'library.sqlite');
  return {
    kind: 'sqlite',
    path,
    reader: sqliteReader(path),
    expectClean: async () => {
      // who is killed before it says that it wants the lock leaves an empty file of that wish
      const left = (await readdir(dirname(path))).filter((name) => !name.includes('.svc-lock-'));
      expect(left.join(' ')).toBe('library.sqlite');
      const database = new DatabaseSync(path);
      expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
      expect(database.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
      database.close();
    },
  };
}

let mariadb: Promise<TestMariadb> | null = null;
afterAll(async () => (await mariadb)?.stop());

async function mariadbPlace(): Promise<Place> {
  const server = await (mariadb ??= startDurableMariadb());
  const name = `killed_${Math.random().toString(36).slice(2)}`;
  await server.run(`CREATE DATABASE ${name};`);
  return {
    kind: 'mariadb',
    path: `${server.socket}#${name}`,
    reader: mysqlReader(() => server, name),
    expectClean: async () => {
      const left = await server.run(`SHOW TABLES LIKE '\\_svc\\_%';`, undefined, name);
      expect(left).toBe('');
    },
  };
}

async function mariadbServerPlace(): Promise<Place> {
  const place = await mariadbPlace();
  return { ...place, end: async () => (await mariadb!).restart('SIGKILL') };
}

const places = [
  ['Delta tables', deltaPlace, {}],
  ['Iceberg tables', icebergPlace, {}],
  ['a SQLite file', sqlitePlace, {}],
  ['a database of MariaDB', mariadbPlace, needs(mariadbParts)],
  ['a database of MariaDB whose server is killed', mariadbServerPlace, needs(mariadbParts)],
] as const;

for (const [name, placeOf, options] of places)
  it(
    `no job is lost, none is there twice: ${name}`,
    { timeout: 60_000 + kills * 20_000, ...options },
    async () => {
      const place = await placeOf();
      let job = 0;
      // whoever is killed is tried again under the same number
      for (let kill = 0; kill < kills; kill += 1)
        job = await loadJobs(place, job + 1, job + 50, Math.random() * 700);
      const last = job + 2;
      expect(await loadJobs(place, job + 1, last, null)).toBe(last);
      const { reader } = place;
      const numbers = Array.from({ length: last }, (__, index) => String(index + 1));
      expect((await reader.read('_loads'))!.map((row) => row.job)).toEqual(numbers);
      expect((await reader.read('_documents'))!.map((row) => row.job)).toEqual(numbers);
      const books = (await reader.read('book'))!;
      expect(books).toHaveLength(2 * last);
      expect(new Set(books.map((row) => row.book_key)).size).toBe(2 * last);
      await place.expectClean();
    },
  );
