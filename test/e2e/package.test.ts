/**
 * The package as users get it: built, packed, installed in an empty folder. PACKAGE_NODES names more Node executables to try it with,
 * comma-separated; the installation needs a package registry or a filled cache, and the tests are skipped without.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopEmbeddedPostgres } from '../../src/adapters/node/embedded-postgres.ts';
import { freightDocumentFolder } from '../support/service-fixtures.ts';
import { projectRoot } from '../rules/project-files.ts';

const run = promisify(execFile);
const document = join(freightDocumentFolder, 'manifest-1.xml');
const nodes = [
  process.execPath,
  ...(process.env['PACKAGE_NODES'] ?? '').split(',').filter((path) => path !== ''),
];

const host = `import { createServer } from 'node:http';
import { createApp } from 'conversion-job-service';
import { openService } from 'conversion-job-service/node';
const service = await openService({ environment: { SVC_HOME: process.argv[2] }, write() {} });
await service.start();
const server = createServer(service.listener).listen(0, '127.0.0.1', async () => {
  const url = 'http://127.0.0.1:' + server.address().port;
  const answers = [];
  for (const path of ['/actuator/health/readiness', '/doc', '/doc/swagger-ui.css', '/v2/schema/all'])
    answers.push((await fetch(url + path)).status);
  console.log(JSON.stringify([typeof createApp, ...answers]));
  server.close();
  await service.close();
});
`;

const types = `import { createApp, type Adapters } from 'conversion-job-service';
import { openService } from 'conversion-job-service/node';
export const make = (adapters: Adapters): { fetch: (request: Request) => Response | Promise<Response> } =>
  createApp(adapters, (null as never));
export const open: (options: { environment: Record<string, string> }) => Promise<{ close(): Promise<void> }> = openService;
`;

let folder: string;
let installed = false;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'package-'));
  await run(process.execPath, ['scripts/package.ts'], { cwd: projectRoot });
  const [name] = (await readdir(join(projectRoot, 'dist'))).filter((file) => file.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  installed = await run(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', join(projectRoot, 'dist', name!)],
    { cwd: folder, timeout: 240_000 },
  ).then(
    () => true,
    (error: Error) => {
      console.warn(
        `the package cannot be installed here: ${error.message.split('\n').slice(0, 3).join(' ')}`,
      );
      return false;
    },
  );
}, 300_000);

afterAll(async () => {
  for (const home of await readdir(folder).catch(() => [] as string[]))
    if (home.startsWith('home')) await stopEmbeddedPostgres(join(folder, home, 'db')).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

describe('the package', { timeout: 180_000 }, () => {
  it('brings what it needs and nothing of its development', async (context) => {
    if (!installed) return context.skip('it could not be installed');
    const own = join(folder, 'node_modules', 'conversion-job-service');
    const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(manifest).not.toHaveProperty('scripts');
    const files = (await readdir(own, { recursive: true })).map(String);
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const others = await readdir(join(folder, 'node_modules'));
    for (const tool of ['typescript', 'vitest', 'wrangler', 'oxlint', 'azurite'])
      expect(others).not.toContain(tool);
  });

  it.each(nodes)('runs the tools, the service and an embedding with %s', async (node, context?: unknown) => {
    if (!installed) return void context;
    const home = join(folder, `home-${nodes.indexOf(node)}`);
    await mkdir(home);
    const environment = { PATH: process.env['PATH'], HOME: home, SVC_HOME: home };
    const tool = async (name: string, ...argv: string[]): Promise<string> => {
      const bin = join(
        folder,
        'node_modules',
        'conversion-job-service',
        'src',
        'tools',
        'bin',
        `${name}.mjs`,
      );
      return (await run(node, [bin, ...argv], { cwd: folder, env: environment })).stdout;
    };
    expect(await tool('xml2er', document, '-o', 'metadb:packed')).toMatch(/origin 1, logical 1, job 1: C/);
    await tool('er2xml', '-l', '1', '-i', 'metadb:packed', '-o', join(home, 'back'));
    expect(await readdir(join(home, 'back'))).toEqual(['manifest-1.xml']);
    expect(await tool('xml2er', document, '-o', join(home, 'files'), '-f', 'parquet')).toMatch(/: C$/m);
    await stopEmbeddedPostgres(join(home, 'db'));
    await writeFile(join(folder, 'host.mjs'), host);
    const { stdout } = await run(node, ['host.mjs', home], { cwd: folder, env: environment });
    expect(JSON.parse(stdout)).toEqual(['function', 200, 200, 200, 401]);
  });

  it('has types that a project of its own compiles with', async (context) => {
    if (!installed) return context.skip('it could not be installed');
    await writeFile(join(folder, 'use.ts'), types);
    const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');
    const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --types node'.split(
      ' ',
    );
    const typeRoots = ['--typeRoots', join(projectRoot, 'node_modules', '@types')];
    await run(process.execPath, [tsc, ...options, ...typeRoots, 'use.ts'], { cwd: folder });
  });
});
