/** Every command of the README is run, and what it shows is what comes out. */
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { properties } from '../../../src/config/properties.ts';
import { stopEmbeddedPostgres } from '../../../src/adapters/embedded-postgres/server.ts';
import { projectRoot, readText } from '../../rules/project-files.ts';
import { needs } from '../../support/needs.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { readBlocks } from './blocks.ts';
import { runShell, startShell } from './shell.ts';

const readme = readText('README.md');
const blocks = readBlocks(readme);

function code(heading: string, language: string, index = 0): string {
  const found = blocks.filter((block) => block.heading === heading && block.language === language)[index];
  if (found === undefined) throw new Error(`README: no ${language} block ${index} under "${heading}"`);
  return found.code;
}

/** The README with the folders and the address that a reader would choose. */
function adapt(script: string, folder: string, url = ''): string {
  return script
    .replaceAll('/tmp/conversions', join(folder, 'home'))
    .replaceAll('/tmp/other-home', join(folder, 'other'))
    .replaceAll('/tmp/orders', join(folder, 'orders'))
    .replaceAll('http://127.0.0.1:8080', url)
    .replace(/\bnpm start$/m, 'exec npm start');
}

describe('README', { timeout: 180_000 }, () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'readme-'));
    // a server of root's that has no other way enters it as somebody else
    await chmod(folder, 0o755);
  });

  afterAll(async () => {
    for (const name of ['home', 'by-hand', 'demo', 'other', 'inside']) {
      await stopEmbeddedPostgres(join(folder, name, 'db')).catch(() => undefined);
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('has no block of commands that is not run below', () => {
    const counted = blocks
      .filter(({ language }) => language !== 'text')
      .map(({ heading, language }) => `${heading}: ${language}`);
    expect(counted).toEqual([
      'Try it: sh',
      'Try it: sh',
      'Five calls: sh',
      'Five calls: sh',
      'By hand: sh',
      'Inside another application: ts',
      'Many machines: sh',
      'Moving between installations: sh',
    ]);
    expect(blocks.every(({ language }) => language !== '')).toBe(true);
  });

  it('Try it: the demo shows what the README shows', async () => {
    expect(code('Try it', 'sh', 0)).toBe('npm ci && npm run demo\n');
    const { code: exit, output } = await runShell('npm run demo -- --home "$FOLDER"', {
      FOLDER: join(folder, 'demo'),
    });
    expect(exit, output).toBe(0);
    const lines = new Set(output.split('\n').map((line) => line.trim()));
    const shown = code('Try it', 'text')
      .split('\n')
      .map((line) => line.trim());
    expect(shown.filter((line) => !lines.has(line))).toEqual([]);
  });

  it('Try it: the tests are run by .ci/run with the same command', () => {
    expect(code('Try it', 'sh', 1)).toBe('npm ci && npm test\n');
    const ci = readText('.ci/run');
    expect(ci).toMatch(/^npm ci\b/m);
    expect(ci).toMatch(/^PATH=\$\(scripts\/bare-path\) npm test\b/m);
    expect(ci).toMatch(/^npm run test:all\b/m);
  });

  it('Five calls: curl streams what it uploads, and an older one takes every option', () => {
    const calls = [...readme.matchAll(/\bcurl\b(?:[^\n]*\\\n)*[^\n]*/g)].map(([call]) => call);
    expect(calls.length).toBeGreaterThan(4);
    // --data-binary reads the whole file into memory; --json is of 7.82
    expect(calls.filter((call) => /\s--(?:json|data-binary|data-raw|fail-with-body)\b/.test(call))).toEqual(
      [],
    );
  });

  it('Five calls: from an upload to the tables', needs('curl'), async () => {
    const service = startShell(adapt(code('Five calls', 'sh', 0), folder), { PORT: '0' });
    try {
      const [, url] = await service.waitFor(/listening on (http:\/\/\S+)/);
      const { code: exit, output } = await runShell(adapt(code('Five calls', 'sh', 1), folder, url), {});
      expect(exit, output).toBe(0);
      expect(output).toContain('"error":false');
      expect(output).toMatch(/^event: end\ndata: .*"status":"C"/m);
      expect(output).toMatch(/^create table /im);
    } finally {
      expect((await service.stop()).code).toBe(0);
    }
  });

  it('By hand: the tools start the database themselves', async () => {
    const environment = { SVC_HOME: join(folder, 'by-hand') };
    const { code: exit, output } = await runShell(adapt(code('By hand', 'sh'), folder), environment);
    expect(exit, output).toBe(0);
    expect(await readdir(join(folder, 'orders'))).toContain('load.sql');
    expect(output).toContain('--savemode');
  });

  it('Moving between installations: what was made by hand arrives elsewhere', async () => {
    const script = adapt(code('Moving between installations', 'sh'), folder);
    const environment = { SVC_HOME: join(folder, 'by-hand') };
    const { code: exit, output } = await runShell(script, environment);
    expect(exit, output).toBe(0);
    expect(output.trimEnd().split('\n').at(-1)).toBe('{"error":false,"origin_ids":"1"}');
    expect(script).toContain('# {"error":false,"origin_ids":"1"}');
  });

  it('Configuration: the table is that of config.ts', () => {
    const rows = readme.split('\n').flatMap((line) => {
      const [, name, initial, meaning] =
        /^\| `([^`]+)`\s*\|\s*(?:`([^`]*)`)?\s*\| (.*?)\s*\|$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, initial: initial ?? '', meaning }];
    });
    expect(rows).toEqual(properties.map(({ name, initial, meaning }) => ({ name, initial, meaning })));
  });

  it('Inside another application: the example answers', { timeout: 60_000 }, async () => {
    const home = join(folder, 'inside');
    const entry = pathToFileURL(join(projectRoot, 'src/runtime/open-service.ts')).href;
    const example = code('Inside another application', 'ts')
      .replace("'conversion-job-service/node'", `'${entry}'`)
      .replace("'hono'", `'${import.meta.resolve('hono')}'`)
      .replace('/srv/conversions', home);
    const file = join(folder, 'host.ts');
    await writeFile(file, `${example}\nexport { host, service };\n`);
    const { host, service } = (await import(file)) as {
      host: { request(path: string): Promise<Response> };
      service: { close(): Promise<void> };
    };
    try {
      expect((await host.request('/convert/actuator/health/liveness')).status).toBe(200);
      expect((await host.request('/convert/v2/schema/all')).status).toBe(401);
    } finally {
      await service.close();
    }
  });

  it('Many machines: a service and a worker share one database', async () => {
    const database = await createEmptyDatabase();
    const script = adapt(code('Many machines', 'sh'), folder).replace(/postgresql:\/\/\S+/, database.url);
    const shells = startShell(`trap 'kill $(jobs -p); wait' TERM\n${script}\nwait`, {
      PORT: '0',
      SVC_HOME: join(folder, 'shared'),
    });
    try {
      await shells.waitFor(/listening on /);
      await shells.waitFor(/waiting for jobs/);
      const key = (await readFile(join(folder, 'shared', 'admin.key'), 'utf8')).trim();
      expect(key).toMatch(/^svk_/);
    } finally {
      await shells.stop();
      await database.drop();
    }
  });
});
