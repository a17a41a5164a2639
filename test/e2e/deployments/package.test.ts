/**
 * The package as users get it: built, packed, installed in an empty folder. PACKAGE_NODES names more Node executables to try it with,
 * comma-separated; the installation needs a package registry or a filled cache, and the tests are skipped without.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import { freightDocumentFolder } from '../../support/service/fixtures.ts';
import { projectRoot } from '../../rules/project-files.ts';
import { needs, skipFor } from '../../support/needs.ts';
import { firstLine } from '../../support/tool-cache.ts';
import { useTrial } from '../../support/service/trial.ts';
import { blockIn, readBlocks } from '../readme/blocks.ts';
import { runShell, startShell } from '../readme/shell.ts';

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
  for (const path of ['/actuator/health/readiness', '/doc', '/doc/swagger-ui.css', '/ui/main.js', '/help/', '/v2/schema/all'])
    answers.push((await fetch(url + path)).status);
  console.log(JSON.stringify([typeof createApp, ...answers]));
  server.close();
  await service.close();
});
`;

const commonjs = `const { AppError } = require('conversion-job-service');
const { openService } = require('conversion-job-service/node');
Promise.all([import('conversion-job-service'), import('conversion-job-service/node')]).then(([index, node]) =>
  console.log(index.AppError === AppError, node.openService === openService));
`;

const types = `import { createApp, type Adapters } from 'conversion-job-service';
import { openService } from 'conversion-job-service/node';
export const make = (adapters: Adapters): { fetch: (request: Request) => Response | Promise<Response> } =>
  createApp(adapters, (null as never));
export const open: (options: { environment: Record<string, string> }) => Promise<{ close(): Promise<void> }> = openService;
`;

const trial = useTrial();
let folder: string;
let installed = false;
/** why it could not be */
let lack = '';

beforeAll(async () => {
  folder = await trial.folder('package-');
  await run(process.execPath, ['scripts/package.ts'], { cwd: projectRoot });
  const [name] = (await readdir(join(projectRoot, 'dist'))).filter((file) => file.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  installed = await run(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', join(projectRoot, 'dist', name!)],
    { cwd: folder, timeout: 240_000 },
  ).then(
    () => true,
    (error: unknown) => {
      lack = firstLine(error);
      return false;
    },
  );
}, 300_000);

afterAll(async () => {
  for (const home of await readdir(folder).catch(() => [] as string[]))
    if (home.startsWith('home')) await stopEmbeddedPostgres(join(folder, home, 'db')).catch(() => undefined);
});

/** The pages for users. */
async function pagesOf(root: string): Promise<string[]> {
  const names = await readdir(join(root, 'docs'), { recursive: true });
  const docs = names.filter((name) => /^(?!decisions\/|interface\/).*\.md$/.test(name));
  return ['README.md', ...docs.toSorted().map((name) => `docs/${name}`)];
}

function own(): string {
  return join(folder, 'node_modules', 'conversion-job-service');
}

describe('the package', { ...needs('whole run'), timeout: 180_000 }, () => {
  it('brings what it needs and nothing of its development', async (context) => {
    if (!installed) return skipFor(context, 'npm registry', lack);
    const manifest = JSON.parse(await readFile(join(own(), 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(manifest).not.toHaveProperty('devDependencies');
    expect(manifest).not.toHaveProperty('scripts');
    const files = (await readdir(own(), { recursive: true })).map(String);
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file) && !file.startsWith('examples/'))).toEqual([]);
    expect(await pagesOf(own())).toContain('docs/how-to/operate.md');
    for (const page of await pagesOf(own()))
      for (const [, path] of (await readFile(join(own(), page), 'utf8')).matchAll(
        /\]\((?!https?:)([^)#]+)[^)]*\)/g,
      )) {
        const target = join(dirname(page), path!);
        expect([
          page,
          target,
          files.some((file) => file === target || file.startsWith(`${target}/`)),
        ]).toEqual([page, target, true]);
      }
    const others = await readdir(join(folder, 'node_modules'));
    for (const tool of ['typescript', 'vitest', 'wrangler', 'oxlint', 'azurite'])
      expect(others).not.toContain(tool);
  });

  it.for(nodes)('runs the tools, the service and an embedding with %s', async (node, context) => {
    if (!installed) return skipFor(context, 'npm registry', lack);
    const home = join(folder, `home-${nodes.indexOf(node)}`);
    await mkdir(home);
    const environment = { PATH: process.env['PATH'], HOME: home, SVC_HOME: home };
    const tool = async (name: string, ...argv: string[]): Promise<string> => {
      const bin = join(own(), 'bin', `${name}.mjs`);
      return (await run(node, [bin, ...argv], { cwd: folder, env: environment })).stdout;
    };
    expect(await tool('xml2er', document, '-o', 'metadb:packed')).toMatch(/origin 1, logical 1, job 1: C/);
    await tool('er2xml', '-l', '1', '-i', 'metadb:packed', '-o', join(home, 'back'));
    expect(await readdir(join(home, 'back'))).toEqual(['manifest-1.xml']);
    expect(await tool('xml2er', document, '-o', join(home, 'files'), '-f', 'parquet')).toMatch(/: C$/m);
    await stopEmbeddedPostgres(join(home, 'db'));
    await writeFile(join(folder, 'host.mjs'), host);
    const { stdout } = await run(node, ['host.mjs', home], { cwd: folder, env: environment });
    expect(JSON.parse(stdout)).toEqual(['function', 200, 200, 200, 200, 200, 401]);
    await writeFile(join(folder, 'host.cjs'), commonjs);
    const required = await run(node, ['host.cjs'], { cwd: folder, env: environment });
    expect(required.stdout).toBe('true true\n');
  });

  it.for(nodes)('does what its README and pages say, line by line, with %s', async (node, context) => {
    if (!installed) return skipFor(context, 'npm registry', lack);
    const place = await mkdtemp(join(folder, 'reader-'));
    await writeFile(join(place, 'package.json'), '{"private":true}');
    await symlink(join(folder, 'node_modules'), join(place, 'node_modules'));
    const database = await createEmptyDatabase();
    const homes: Readonly<Record<string, string>> = { conversions: 'home', 'other-home': 'other' };
    const code = async (page: string, heading: string, index = 0): Promise<string> => {
      const blocks = readBlocks(await readFile(join(own(), page), 'utf8'));
      const shown = blockIn(blocks, heading, 'sh', index)
        // in one pass, because `place` may be below /tmp
        .replaceAll(
          /\/tmp\/(conversions|other-home)?/g,
          (_, named?: string) => `${place}/${named === undefined ? '' : homes[named]}`,
        )
        .replace(/postgresql:\/\/\S+/, database.url)
        .replace(/^npm (?:init|install).*\n/gm, '');
      return `cd '${place}'\n${shown}`;
    };
    for (const page of await pagesOf(own()))
      expect([page, await readFile(join(own(), page), 'utf8')]).toEqual([
        page,
        expect.not.stringMatching(/\bscripts\/demo\b|\bnpm (?:ci|start|test)\b/),
      ]);
    // the Node that is tried is the first that commands find
    const bin = join(place, 'bin');
    await mkdir(bin);
    await symlink(node, join(bin, 'node'));
    const at = {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: place,
      SVC_HOME: join(place, 'home'),
    };
    const reads = async (script: string): Promise<string> => {
      const { code: exit, output } = await runShell(script, at);
      expect(exit, output).toBe(0);
      return output;
    };
    try {
      expect(await reads(await code('README.md', 'Install'))).toContain('conversion-job-service worker');
      const service = startShell(
        (await code('docs/how-to/rest-api.md', 'Convert over REST')).replace('npx', 'exec npx'),
        { ...at, PORT: '0' },
      );
      try {
        const [, url] = await service.waitFor(/listening on (http:\/\/\S+)/);
        const calls = await reads(
          (await code('docs/how-to/rest-api.md', 'Convert over REST', 1)).replaceAll(
            'http://127.0.0.1:8080',
            url!,
          ),
        );
        expect(calls).toMatch(/^event: end\ndata: .*"status":"C"/m);
        expect(calls).toMatch(/^create table /im);
      } finally {
        await service.stopAll();
      }
      expect(await reads(await code('docs/how-to/convert.md', 'Step by step'))).toContain('--savemode');
      expect(await readdir(join(place, 'convert', 'orders'))).toContain('load.sql');
      const metadata = (await code('docs/how-to/metadata.md', 'Metadata for other tools')).replaceAll(
        'schema demo',
        'schema xsd',
      );
      await reads(metadata);
      await reads(
        (await code('docs/how-to/metadata.md', 'Data dictionary')).replaceAll(
          'dictionary demo',
          'dictionary xsd',
        ),
      );
      expect(await readdir(place)).toEqual(expect.arrayContaining(['demo-dbt.zip', 'demo.xlsx', 'demo.md']));
      await reads(await code('docs/how-to/delta.md', 'Write Delta tables'));
      expect(await reads(await code('docs/how-to/delta.md', 'Small files'))).toContain('files became 1');
      await reads(await code('docs/how-to/iceberg.md', 'Write Iceberg tables'));
      expect(await readdir(join(place, 'ice', 'line'))).toContain('metadata');
      await mkdir(join(place, 'home', 'files', '1', 'inbox'), { recursive: true });
      expect(await reads(await code('docs/how-to/watches.md', 'A folder'))).toMatch(/^name +orders$/m);
      const moved = await reads(
        await code('docs/how-to/move-schemas.md', 'Move schemas between installations'),
      );
      expect(moved.trimEnd().split('\n').at(-1)).toBe('{"error":false,"origin_ids":"1"}');
      const seen = (await code('docs/how-to/operate.md', 'Look at it'))
        .replaceAll('orders.svg', join(place, 'orders.svg'))
        .replaceAll(/\b(schema|ddl|diagram) orders\b/g, '$1 xsd')
        .replaceAll(/\b(job|log) 7\b/g, '$1 1');
      expect(await reads(seen)).toContain('CREATE TABLE `');
      const both = startShell(`${await code('docs/how-to/operate.md', 'Several machines')}\nwait`, {
        ...at,
        PORT: '0',
        SVC_HOME: join(place, 'shared'),
      });
      try {
        await both.waitFor(/listening on /);
        await both.waitFor(/waiting for jobs/);
      } finally {
        await both.stopAll();
      }
    } finally {
      for (const home of ['home', 'other'])
        await stopEmbeddedPostgres(join(place, home, 'db')).catch(() => undefined);
      await database.drop();
    }
  });

  it.for(['--module nodenext', '--module esnext --moduleResolution bundler'])(
    'has types that a project of its own compiles with, strictly, those of its dependencies too: %s',
    async (resolution, context) => {
      if (!installed) return skipFor(context, 'npm registry', lack);
      await writeFile(join(folder, 'use.ts'), types);
      // hosts that the examples are written for; the project's own, as they are no dependencies of the package
      await rm(join(folder, 'node_modules', '@types'), { recursive: true, force: true });
      for (const name of ['express', 'fastify', '@types'])
        await symlink(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name)).catch(
          () => undefined,
        );
      await cp(join(own(), 'examples'), join(folder, 'examples'), { recursive: true });
      const examples = (await readdir(join(folder, 'examples'))).filter((name) => name.endsWith('.ts'));
      expect(examples).toHaveLength(7);
      const tsc = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc');
      const options = `--noEmit --strict --skipLibCheck false ${resolution} --target es2024 --types node`;
      await run(process.execPath, [tsc, ...options.split(' '), 'use.ts', 'examples/edge/worker.ts'], {
        cwd: folder,
      });
      // types of other packages are their own matter
      const ofExamples = options.replace(
        '--skipLibCheck false',
        '--skipLibCheck --allowImportingTsExtensions',
      );
      const adapters = (await readdir(join(folder, 'examples', 'custom-adapters'))).map((name) =>
        join('custom-adapters', name),
      );
      const files = [...examples, ...adapters].map((name) => join('examples', name));
      await run(process.execPath, [tsc, ...ofExamples.split(' '), ...files], { cwd: folder });
    },
  );

  it('bundles for the edge by the example that it brings', async (context) => {
    if (!installed) return skipFor(context, 'npm registry', lack);
    const edge = join(folder, 'edge');
    await cp(join(own(), 'examples', 'edge'), edge, { recursive: true });
    await symlink(join(folder, 'node_modules'), join(edge, 'node_modules'));
    const wrangler = join(projectRoot, 'node_modules', 'wrangler', 'bin', 'wrangler.js');
    const words = [wrangler, 'deploy', '--dry-run', '--outdir', join(folder, 'bundle')];
    const { PATH } = process.env;
    const quiet = { CLOUDFLARE_CF_FETCH_ENABLED: 'false', WRANGLER_SEND_METRICS: 'false' };
    await run(process.execPath, words, {
      cwd: edge,
      env: { PATH, HOME: folder, XDG_CONFIG_HOME: folder, ...quiet },
    });
    const bundle = await readFile(join(folder, 'bundle', 'worker.js'), 'utf8');
    expect(bundle).toContain('/v2/run/cmd');
  });
});
