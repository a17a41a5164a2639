/** The service as people start it: a process with a home folder of its own. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stopEmbeddedPostgres } from '../../../../src/process/embedded-postgres/server.ts';
import { openInstallation } from '../../../../src/runtime/open-installation.ts';
import { eventually, temporaryFolder } from './tool-runner.ts';
import { needs } from '../../../support/needs.ts';

const entry = fileURLToPath(new URL('../../../../src/runtime/service-main.ts', import.meta.url));

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

function start(home: string, environment: Readonly<Record<string, string>> = {}): Started {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, SVC_HOME: home, PORT: '0', ...environment };
  const child = spawn(process.execPath, [entry], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.on('data', (data) => (text += String(data)));
  child.stderr.on('data', (data) => (text += String(data)));
  return { child, output: () => text, ended: new Promise((resolve) => child.once('exit', resolve)) };
}

const urlOf = (service: Started): Promise<string> =>
  eventually(() => /^listening on (http:\S+)$/m.exec(service.output())?.[1] ?? null);

async function newHome(): Promise<string> {
  const home = await temporaryFolder();
  onTestFinished(() => stopEmbeddedPostgres(join(home, 'db')));
  return home;
}

describe('service', () => {
  it('makes its home, says where the key is and whether commands are on, answers, and ends on SIGTERM', async () => {
    const home = await newHome();
    const service = start(home);
    const url = await urlOf(service);
    const key = (await readFile(join(home, 'admin.key'), 'utf8')).trim();
    expect(key).toMatch(/^svk_[0-9a-f]+_[\w-]{40,}$/);
    expect(service.output()).toContain(join(home, 'admin.key'));
    expect(service.output()).not.toContain(key);
    expect(service.output()).toContain(`set cmd.enabled=true in ${join(home, 'conf/backend.properties')}`);
    for (const file of ['admin.key', 'metadb.url', 'secret.key', 'conf/backend.properties']) {
      expect((await stat(join(home, file))).mode & 0o777).toBe(0o600);
    }
    expect((await readdir(home)).toSorted()).toEqual([
      'admin.key',
      'conf',
      'db',
      'files',
      'logs',
      'metadb.url',
      'secret.key',
    ]);

    expect((await fetch(`${url}/v2/executions/all`)).status).toBe(401);
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    expect((await fetch(`${url}/v2/executions/all`, { headers })).status).toBe(200);
    const run = await fetch(`${url}/v2/run/cmd`, { method: 'POST', headers, body: '{"executions":[]}' });
    expect(run.status).toBe(403);
    expect((await fetch(`${url}/actuator/health/readiness`)).status).toBe(200);

    service.child.kill('SIGTERM');
    expect(await service.ended).toBe(0);
  });

  it(
    'keeps its key and its database over kill -9 and a new start, and tools by hand join it',
    needs('whole run'),
    async () => {
      const home = await newHome();
      const first = start(home);
      await urlOf(first);
      const key = await readFile(join(home, 'admin.key'), 'utf8');
      first.child.kill('SIGKILL');
      await first.ended;

      const second = start(home, { SVC_CMD_ENABLED: 'true' });
      const url = await urlOf(second);
      expect(await readFile(join(home, 'admin.key'), 'utf8')).toBe(key);
      expect(second.output()).toContain('running commands is on');
      const answer = await fetch(`${url}/v2/executions/all`, {
        headers: { Authorization: `Bearer ${key.trim()}` },
      });
      expect(answer.status).toBe(200);

      const opened = await openInstallation(
        { SVC_HOME: home, HOME: home },
        { role: 'tool', write: () => undefined },
      );
      expect(`${opened.databaseUrl}\n`).toBe(await readFile(join(home, 'metadb.url'), 'utf8'));
      expect(opened.mask(`cannot reach ${opened.databaseUrl}`)).not.toContain(
        new URL(opened.databaseUrl).password,
      );
      await opened.close();
      second.child.kill('SIGINT');
      expect(await second.ended).toBe(0);
    },
  );

  it('does not start with wrong settings, and names them all', async () => {
    const home = await temporaryFolder();
    await mkdir(join(home, 'conf'));
    await writeFile(join(home, 'conf/backend.properties'), 'cmd.enabled=perhaps\nsvc.limits.upload=much\n');
    const service = start(home);
    expect(await service.ended).toBe(1);
    expect(service.output()).toMatch(/^cmd\.enabled: .*\nsvc\.limits\.upload: .*\n$/);
  });

  it('says so when its port is taken', needs('whole run'), async () => {
    const home = await newHome();
    const first = start(home);
    const { port } = new URL(await urlOf(first));
    const second = start(home, { PORT: port });
    expect(await second.ended).toBe(1);
    expect(second.output()).toContain(`cannot listen on 127.0.0.1:${port} (EADDRINUSE)`);
    expect((await fetch(`http://127.0.0.1:${port}/actuator/health/liveness`)).status).toBe(200);
    first.child.kill('SIGTERM');
    expect(await first.ended).toBe(0);
  });
});
