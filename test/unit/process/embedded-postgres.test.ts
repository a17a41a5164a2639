/** The launcher on the real binaries: starts, adoption, crashes, ownership. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { linkLibraries } from '../../../src/process/embedded-postgres/process.ts';
import {
  joinEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../../src/process/embedded-postgres/server.ts';
import { needs } from '../../support/needs.ts';

const launcher = new URL('../../../src/process/embedded-postgres/server.ts', import.meta.url).href;

let home: string;
let directory: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'embedded-postgres-'));
  await chmod(home, 0o755);
  directory = join(home, 'db');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  if (await exists(directory)) await stopEmbeddedPostgres(directory);
  await rm(home, { recursive: true, force: true });
});

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
const query = async (url: string, text: string): Promise<postgres.Row[]> => {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined });
  try {
    return await sql.unsafe(text);
  } finally {
    await sql.end();
  }
};
const serverPid = async (): Promise<number> =>
  Number((await readFile(join(directory, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
const until = async (what: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; !(await what()); i++) {
    if (i > 600) throw new Error('did not come to pass');
    await delay(50);
  }
};
const statusOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/status`, 'utf8');
const asNobody = (script: string): number | null =>
  spawnSync('/bin/sh', ['-c', script], { uid: 65_534, gid: 65_534, cwd: '/', stdio: 'ignore' }).status;
const gone = (pid: number) => async (): Promise<boolean> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return text === '' || text.includes(') Z ');
};

/** Another process that starts or joins; it says so in a line of JSON and then stays until it is killed. */
async function inProcess(
  verb: 'startEmbeddedPostgres' | 'joinEmbeddedPostgres',
  more: object = {},
  uid?: number,
  path = process.env.PATH,
): Promise<{ url: string; adopted: boolean; child: ChildProcess }> {
  const code = `
    const { ${verb}: enter } = await import(${JSON.stringify(launcher)});
    const { url, adopted } = await enter(${JSON.stringify({ directory, ...more })});
    console.log(JSON.stringify({ url, adopted }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'pipe'],
    uid,
    gid: uid,
    cwd: '/',
    env: { ...process.env, PATH: path },
  });
  children.push(child);
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => void (errors += chunk.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(text);
    });
    child.once('exit', () => reject(new Error(errors)));
  });
  return { ...(JSON.parse(line) as { url: string; adopted: boolean }), child };
}

describe('the embedded database', () => {
  test('starts, keeps its data and its address, and is closed to others', async () => {
    const first = await startEmbeddedPostgres({ directory });
    expect(first.adopted).toBe(false);
    expect(first.url).toMatch(/^postgresql:\/\/postgres:[\w-]{32}@127\.0\.0\.1:\d+\/postgres$/);
    await query(first.url, 'create table kept as select 42 as n');
    const [settings] = await query(
      first.url,
      `select current_setting('TimeZone') as zone, current_setting('fsync') as fsync, current_setting('max_connections') as connections,
              current_setting('server_encoding') as encoding, current_setting('data_checksums') as checksums`,
    );
    expect(settings).toEqual({
      zone: 'UTC',
      fsync: 'on',
      connections: '100',
      encoding: 'UTF8',
      checksums: 'on',
    });
    await expect(query(first.url.replace(/:[\w-]+@/, ':wrong@'), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });
    expect((await stat(join(directory, 'password'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory, 'data'))).mode & 0o777).toBe(0o700);
    const pid = await serverPid();
    await first.stop();
    await first.stop();
    expect(await gone(pid)()).toBe(true);
    await expect(query(first.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });

    const second = await startEmbeddedPostgres({ directory });
    expect(second).toMatchObject({ adopted: false, url: first.url });
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }]);
    await second.stop();
  });

  test('has one server when many start at once; who only joined does not stop it', async () => {
    const all = await Promise.all(Array.from({ length: 5 }, () => startEmbeddedPostgres({ directory })));
    expect(new Set(all.map((entry) => entry.url)).size).toBe(1);
    expect(all.filter((entry) => !entry.adopted)).toHaveLength(1);
    for (const entry of all) if (entry.adopted) await entry.stop();
    const owner = all.find((entry) => !entry.adopted);
    expect(await query(owner?.url ?? '', 'select 1 as n')).toEqual([{ n: 1 }]);
    await owner?.stop();
    await expect(query(owner?.url ?? '', 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('has one server when processes start it at once', needs('whole run'), async () => {
    const all = await Promise.all([1, 2, 3].map(() => inProcess('startEmbeddedPostgres')));
    expect(all.filter((entry) => !entry.adopted)).toHaveLength(1);
    expect(new Set(all.map((entry) => entry.url)).size).toBe(1);
  });

  test('survives the death of its parent: the next start adopts it and then owns it', async () => {
    const { url, child } = await inProcess('startEmbeddedPostgres');
    await query(url, 'create table kept as select 1 as n');
    child.kill('SIGKILL');
    await until(gone(child.pid ?? 0));
    const next = await startEmbeddedPostgres({ directory });
    expect(next).toMatchObject({ adopted: true, url });
    expect(await query(url, 'select n from kept')).toEqual([{ n: 1 }]);
    const pid = await serverPid();
    await next.stop();
    expect(await gone(pid)()).toBe(true);
  });

  test(
    'recovers when parent and server were both killed, and what was committed is there',
    needs('whole run'),
    async () => {
      const { url, child } = await inProcess('startEmbeddedPostgres');
      await query(url, 'create table kept as select generate_series(1, 1000) as n');
      child.kill('SIGKILL');
      await until(gone(child.pid ?? 0));
      process.kill(await serverPid(), 'SIGKILL');
      const next = await startEmbeddedPostgres({ directory });
      expect(next).toMatchObject({ adopted: false, url });
      expect(await query(next.url, 'select count(*)::int as n from kept')).toEqual([{ n: 1000 }]);
      await next.stop();
    },
  );

  test(
    'is started again at the same address when the server dies under a running service',
    needs('whole run'),
    async () => {
      const service = await startEmbeddedPostgres({ directory });
      await query(service.url, 'create table kept as select 1 as n');
      const pid = await serverPid();
      process.kill(pid, 'SIGKILL');
      await until(() =>
        query(service.url, 'select n from kept').then(
          () => true,
          () => false,
        ),
      );
      expect(await serverPid()).not.toBe(pid);
      await service.stop();
      await expect(query(service.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    },
  );

  test('starts although its old process number belongs to a stranger now', needs('whole run'), async () => {
    await (await startEmbeddedPostgres({ directory })).stop();
    const uid = (await stat(join(directory, 'data'))).uid;
    const stranger = spawn('sleep', ['60'], process.getuid?.() === 0 ? { uid, gid: uid } : {});
    children.push(stranger);
    const path = join(directory, 'data/postmaster.pid');
    await writeFile(
      path,
      `${stranger.pid}\n${join(directory, 'data')}\n1790000000\n5432\n\n127.0.0.1\n        1         1\nready   \n`,
      { mode: 0o600 },
    );
    await chown(path, uid, uid);
    const next = await startEmbeddedPostgres({ directory });
    expect(next.adopted).toBe(false);
    expect(await gone(stranger.pid ?? 0)()).toBe(false);
    await next.stop();
  });

  test('takes another port when its own is taken', needs('whole run'), async () => {
    const first = await startEmbeddedPostgres({ directory });
    await first.stop();
    const { createServer } = await import('node:net');
    const squatter = createServer();
    await new Promise<void>(
      (resolve) => void squatter.listen(Number(new URL(first.url).port), '127.0.0.1', resolve),
    );
    const second = await startEmbeddedPostgres({ directory });
    expect(second.url).not.toBe(first.url);
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await second.stop();
    await new Promise((resolve) => squatter.close(resolve));
  });

  test('an aborted start rejects', async () => {
    await expect(
      startEmbeddedPostgres({ directory, signal: AbortSignal.abort(new Error('no more')) }),
    ).rejects.toThrow('no more');
  });
});

describe('a database that a tool started', () => {
  test('stops when nobody has been connected for a while, and not before', needs('whole run'), async () => {
    const { url, child, adopted } = await inProcess('joinEmbeddedPostgres', { idleMs: 1500 });
    expect(adopted).toBe(false);
    const pid = await serverPid();
    const sql = postgres(url, { max: 1 });
    await sql`select 1`;
    child.kill('SIGKILL');
    await delay(3000);
    expect(await gone(pid)()).toBe(false);
    await sql.end();
    await until(gone(pid));
    expect(await exists(join(directory, 'owner.json'))).toBe(false);
  });

  test('is joined by other tools and taken over by a service', needs('whole run'), async () => {
    const first = await joinEmbeddedPostgres({ directory, idleMs: 1000 });
    expect(await joinEmbeddedPostgres({ directory, idleMs: 1000 })).toEqual({
      url: first.url,
      adopted: true,
    });
    const watcher = (JSON.parse(await readFile(join(directory, 'owner.json'), 'utf8')) as { pid: number })
      .pid;
    const service = await startEmbeddedPostgres({ directory });
    expect(service).toMatchObject({ adopted: true, url: first.url });
    await until(gone(watcher));
    await delay(1500);
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    const joined = await joinEmbeddedPostgres({ directory, idleMs: 1 });
    await delay(1000);
    expect(await query(joined.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await service.stop();
    await expect(query(service.url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the folders and users it can live with', () => {
  test('a parent folder that is closed to others', async () => {
    await chmod(home, 0o700);
    const server = await startEmbeddedPostgres({ directory });
    expect(await query(server.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await server.stop();
    // Opened later: nothing changes for the server.
    await chmod(home, 0o755);
    const again = await startEmbeddedPostgres({ directory });
    expect(await query(again.url, 'create table t as select 1 as n; select n from t')).toBeDefined();
    await again.stop();
  });

  test.each([
    ['an ordinary user', 1],
    ['an ordinary user without a name', 61_234],
  ])('%s', needs(['root', 'user namespaces']), async (_, uid) => {
    await chown(home, uid, uid);
    const { url, child } = await inProcess('startEmbeddedPostgres', {}, uid);
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect((await stat(join(directory, 'data'))).uid).toBe(uid);
    expect((await statusOf(await serverPid())).match(/^Uid:\t(\d+)/m)?.[1]).toBe(String(uid));
    child.kill('SIGKILL');
  });

  test.each([
    ['user namespaces are', ['unshare']],
    ['user namespaces and capabilities are', ['unshare', 'setpriv']],
  ])(
    'root where %s switched off, under a number that nobody else has',
    needs(['root', 'setpriv']),
    async (_, absent) => {
      const tools = join(home, 'bin');
      await mkdir(tools);
      for (const tool of absent) await writeFile(join(tools, tool), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      const path = `${tools}:${process.env.PATH}`;
      if (absent.length === 1) await chmod(home, 0o700);
      const { url, child } = await inProcess('startEmbeddedPostgres', {}, undefined, path);
      expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
      const uid = Number((await statusOf(await serverPid())).match(/^Uid:\t(\d+)/m)?.[1]);
      expect(uid).toBeGreaterThan(60_000);
      expect(uid).not.toBe(65_534);
      expect((await stat(join(directory, 'data'))).uid).toBe(uid);
      expect(
        (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':')[2]),
      ).not.toContain(String(uid));
      child.kill('SIGKILL');
    },
  );

  test('data of nobody, as an earlier version left it', needs(['root', 'user namespaces']), async () => {
    await (await startEmbeddedPostgres({ directory })).stop();
    await chmod(directory, 0o755);
    spawnSync('chown', ['-R', '65534:65534', join(directory, 'data')]);
    const server = await startEmbeddedPostgres({ directory });
    expect(await query(server.url, 'create table t as select 1 as n; select n from t')).toBeDefined();
    expect((await stat(join(directory, 'data', 'PG_VERSION'))).uid).not.toBe(65_534);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    await server.stop();
  });

  test('root, whose server no process of nobody can touch', needs(['root', 'user namespaces']), async () => {
    const server = await startEmbeddedPostgres({ directory });
    const pid = await serverPid();
    expect(await statusOf(pid)).toMatch(/^CapEff:\t0+$/m);
    expect(await statusOf(pid)).not.toMatch(/^Uid:.*\b65534\b/m);
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect(asNobody('true')).toBe(0);
    for (const attack of [
      `kill -0 ${pid}`,
      `cat /proc/${pid}/environ`,
      `head -c 1 /proc/${pid}/mem`,
      `ls /proc/${pid}/fd/`,
      `ls /proc/${pid}/cwd/`,
      `ls ${directory}`,
      `cat ${directory}/password`,
    ])
      expect([attack, asNobody(attack)]).not.toEqual([attack, 0]);
    await server.stop();
  });
});

describe('the package’s library links', () => {
  test('are made where missing, by several processes at once, and left alone where present', async () => {
    const root = join(home, 'package');
    await mkdir(join(root, 'native/lib'), { recursive: true });
    await writeFile(join(root, 'native/lib/libx.so.1.2'), 'x');
    await writeFile(
      join(root, 'native/pg-symlinks.json'),
      JSON.stringify(
        ['libx.so', 'libx.so.1'].map((name) => ({
          source: 'native/lib/libx.so.1.2',
          target: `native/lib/${name}`,
        })),
      ),
    );
    await Promise.all(Array.from({ length: 8 }, () => linkLibraries(root)));
    await linkLibraries(root);
    expect(await readlink(join(root, 'native/lib/libx.so'))).toBe('libx.so.1.2');
    const moved = join(home, 'moved');
    await cp(root, moved, { recursive: true, verbatimSymlinks: true });
    expect(await readFile(join(moved, 'native/lib/libx.so.1'), 'utf8')).toBe('x');
    await expect(linkLibraries(join(home, 'absent'))).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
