/** The twins of /v2/admin on the command line, on the same home as a running service. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, serviceEnvironment } from '../../support/service/start.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

describe('conversion-job-service keys, orgs, audit', { timeout: 60_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
  });

  interface Ran {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
  }
  const run = (...args: string[]): Promise<Ran> => runWith({}, ...args);
  async function runWith(environment: Record<string, string>, ...args: string[]): Promise<Ran> {
    const bin = join(projectRoot, 'bin/conversion-job-service.mjs');
    const options = { env: serviceEnvironment(home, environment), cwd: projectRoot };
    return promisify(execFile)(process.execPath, [bin, ...args], options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  }

  const status = async (key: string, path: string): Promise<number> =>
    (await fetch(service.url + path, { headers: { Authorization: `Bearer ${key}` } })).status;

  it('make an organisation and a key that works there, list it without its secret, and end it', async () => {
    const made = await run('orgs', 'create', 'research', '--json');
    const { id_org: idOrg } = JSON.parse(made.stdout) as { id_org: number };
    const issued = await run(
      'keys',
      'issue',
      '--name',
      'nightly',
      '--scopes',
      'jobs:read,files:upload',
      '--org',
      String(idOrg),
      '--expires',
      '1d',
    );
    const key = issued.stdout.trim();
    expect(key).toMatch(/^svk_[0-9a-f]{20}_[\w-]{43}$/);
    expect([await status(key, '/v2/executions/all'), await status(key, '/v2/schema/all')]).toEqual([
      200, 403,
    ]);
    const listed = await run('keys', 'list', '--org', String(idOrg));
    const idKey = key.split('_')[1]!;
    expect(listed.stdout).toContain(idKey);
    expect(listed.stdout).toContain('jobs:read files:upload');
    expect(listed.stdout).not.toContain(key.split('_').slice(2).join('_'));
    expect((await run('orgs', 'list')).stdout).toMatch(/^\d+ +research /m);
    expect(await run('keys', 'revoke', idKey)).toMatchObject({ code: 0 });
    // from another process, within a second (docs/decisions/service/secrets.md)
    await expect.poll(() => status(key, '/v2/executions/all'), { timeout: 1000 }).toBe(401);
    const audit = JSON.parse((await run('audit', '--json')).stdout) as {
      action: string;
      subject: string;
      actor: string;
    }[];
    expect(audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['keys revoke', 'keys issue', 'orgs create']),
    );
    expect(audit.find(({ action }) => action === 'keys issue')!.subject).toContain(idKey);
    expect(JSON.stringify(audit)).not.toContain(key.split('_').slice(2).join('_'));
    const over = (await (await service.client.fetch('/v2/admin/audit')).json()) as {
      content: { action: string }[];
    };
    expect(over.content.map(({ action }) => action)).toContain('keys revoke');
  });

  it('say what is wrong, with exit code 2 for usage and 1 for the rest', async () => {
    for (const args of [
      ['keys'],
      ['keys', 'issue', '--scopes', 'jobs:read'],
      ['keys', 'issue', '--name', 'a', '--scopes', 'root'],
      ['keys', 'issue', '--name', 'a', '--scopes', 'admin', '--expires', 'yesterday'],
      ['keys', 'list', '--name', 'a'],
      ['keys', 'revoke'],
      ['toString'],
      ['audit', '--size', 'x'],
    ]) {
      const { code, stderr } = await run(...args);
      expect([args, code]).toEqual([args, 2]);
      expect(stderr).toContain('conversion-job-service keys issue');
    }
    expect(await run('keys', 'revoke', 'nobody')).toMatchObject({
      code: 1,
      stderr: 'there is no key nobody\n',
    });
    expect(await run('keys', 'issue', '--name', 'a', '--scopes', 'admin', '--org', '999')).toMatchObject({
      code: 1,
    });
    expect(await runWith({ SVC_METADB_URL: 'postgresql://a:b@127.0.0.1:1/c' }, 'keys', 'list')).toMatchObject(
      {
        code: 1,
        stderr:
          'the metadata database at 127.0.0.1:1: the connection failed (ECONNREFUSED): no server listens there; is it running, and are host and port right?\n',
      },
    );
    expect(await run('--help')).toMatchObject({ code: 0 });
    expect((await run('--version')).stdout).toMatch(/^conversion-job-service \d+\.\d+\.\d+\n$/);
  });
});
