/**
 * Clients that generators make of the served document: each compiles, and converts a document (test/fixtures/clients).
 * The one for Java has a test of its own, test/e2e/clients/java-client.test.ts.
 * `GENERATED_CLIENTS=1 npm test -- test/e2e/clients/generated-clients.test.ts`; generators and libraries come from the registries, once.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { projectRoot, type RunningService, type ServiceHome } from '../../support/service/start.ts';
import { needs, openapiGenerator, openapiGeneratorVersion } from '../../support/needs.ts';
import { convertedByClient } from '../../support/generated-clients.ts';
import { toolCache } from '../../support/tool-cache.ts';
import { useTrial } from '../../support/service/trial.ts';

const execute = promisify(execFile);
const versions = {
  python: ['openapi-python-client==0.29.0', 'urllib3', 'python-dateutil', 'pydantic', 'typing_extensions'],
  node: [
    'openapi-typescript@7.13.0',
    'openapi-fetch@0.14.0',
    '@hey-api/openapi-ts@0.95.0',
    'orval@8.38.0',
    'typescript@5.9.3',
    '@types/node@22',
  ],
  oapiCodegen: 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.0',
};
const document = join(projectRoot, 'scripts/demo/documents/orders-2026-03-04-a.xml');
const programs = join(projectRoot, 'test/fixtures/clients');

describe('a generated client', { timeout: 900_000, ...needs('client generators') }, () => {
  const cache = toolCache('client-generators');
  const python = join(cache, 'python/bin');
  const jar = openapiGenerator();
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let folder: string;
  let description: string;

  const run = async (file: string, argv: readonly string[], cwd = folder, env = {}): Promise<string> =>
    (await execute(file, [...argv], { cwd, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 })).stdout;

  /** Runs a client and reads what it tells. */
  const told = async (file: string, argv: readonly string[], cwd = folder, env = {}): Promise<unknown> => {
    const output = await run(file, [...argv, service.url, service.key, document], cwd, env);
    return JSON.parse(output.trim().split('\n').at(-1)!) as unknown;
  };

  beforeAll(async () => {
    await mkdir(cache, { recursive: true });
    await run('python3', ['-m', 'venv', join(cache, 'python')], cache);
    await run(join(python, 'pip'), ['install', '--quiet', ...versions.python], cache);
    if (!existsSync(jar)) {
      const artifact = `org.openapitools:openapi-generator-cli:${openapiGeneratorVersion}`;
      const copy = [
        '-q',
        '-B',
        'dependency:copy',
        `-Dartifact=${artifact}`,
        `-DoutputDirectory=${dirname(jar)}`,
      ];
      await run('mvn', copy, cache);
    }
    await writeFile(join(cache, 'package.json'), '{"private":true,"type":"module"}');
    await run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...versions.node], cache);
    await run('go', ['install', versions.oapiCodegen], cache, { GOBIN: cache });
    home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
    folder = await trial.folder('generated-clients-');
    description = join(folder, 'openapi.json');
    await writeFile(description, await (await fetch(`${service.url}/doc`)).text());
  }, 900_000);

  const generate = (language: string, output: string, ...more: string[]): Promise<string> =>
    run('java', [
      '-jar',
      jar,
      'generate',
      '-i',
      description,
      '-g',
      language,
      '-o',
      join(folder, output),
      ...more,
    ]);

  /** Compiles a program with the client that it imports. */
  const compile = async (place: string): Promise<void> => {
    const options =
      '--strict --module commonjs --moduleResolution node --skipLibCheck --target es2022 --types node';
    await run('npx', ['tsc', ...options.split(' '), '--outDir', 'out', 'main.ts'], place);
  };

  test('for Python, by openapi-generator', async () => {
    await generate('python', 'py', '--package-name', 'svc');
    const path = { PYTHONPATH: join(folder, 'py') };
    expect(
      await told(join(python, 'python'), [join(programs, 'openapi_generator.py')], folder, path),
    ).toEqual(convertedByClient);
  });

  test('for Python, by openapi-python-client', async () => {
    const output = join(folder, 'opc/conversion_job_service_client');
    await mkdir(join(folder, 'opc'));
    await run(join(python, 'openapi-python-client'), [
      'generate',
      '--path',
      description,
      '--meta',
      'none',
      '--output-path',
      output,
    ]);
    const path = { PYTHONPATH: join(folder, 'opc') };
    expect(
      await told(join(python, 'python'), [join(programs, 'openapi_python_client.py')], folder, path),
    ).toEqual(convertedByClient);
  });

  test('for TypeScript, by openapi-typescript', async () => {
    // below the cache, where the libraries are found
    const place = await mkdtemp(join(cache, 'ts-'));
    try {
      await cp(join(programs, 'openapi-typescript.ts.txt'), join(place, 'main.ts'));
      await run('npx', ['openapi-typescript', description, '-o', 'schema.d.ts'], place);
      const options =
        '--noEmit --strict --module nodenext --target es2022 --allowImportingTsExtensions --types node';
      await run('npx', ['tsc', ...options.split(' '), 'main.ts'], place);
      expect(await told(process.execPath, ['main.ts'], place)).toEqual(convertedByClient);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });

  test('for TypeScript, by hey-api', async () => {
    const place = await mkdtemp(join(cache, 'hey-'));
    try {
      await cp(join(programs, 'hey-api.ts.txt'), join(place, 'main.ts'));
      await writeFile(join(place, 'package.json'), '{"type":"commonjs"}');
      await run(
        'npx',
        ['openapi-ts', '-i', description, '-o', 'client', '-c', '@hey-api/client-fetch'],
        place,
      );
      await compile(place);
      expect(await told(process.execPath, ['out/main.js'], place)).toEqual(convertedByClient);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });

  test('for TypeScript, by openapi-generator', async () => {
    const place = await mkdtemp(join(cache, 'fetch-'));
    try {
      await cp(join(programs, 'typescript-fetch.ts.txt'), join(place, 'main.ts'));
      await writeFile(join(place, 'package.json'), '{"type":"commonjs"}');
      // TRACE of /error is a method that its types of methods lack
      const filter = 'FILTER=method:get|post|put|patch|delete';
      await generate('typescript-fetch', 'fetch', '--openapi-normalizer', filter);
      await cp(join(folder, 'fetch'), join(place, 'client'), { recursive: true });
      await compile(place);
      expect(await told(process.execPath, ['out/main.js'], place)).toEqual(convertedByClient);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });

  test('for TypeScript, by orval', async () => {
    const place = await mkdtemp(join(cache, 'orval-'));
    try {
      await cp(join(programs, 'orval.ts.txt'), join(place, 'main.ts'));
      await writeFile(join(place, 'package.json'), '{"type":"commonjs"}');
      await run(
        'npx',
        ['orval', '--input', description, '--output', 'client.ts', '--client', 'fetch'],
        place,
      );
      await compile(place);
      expect(await told(process.execPath, ['out/main.js'], place)).toEqual(convertedByClient);
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });

  test('for Go, by oapi-codegen', async () => {
    const place = join(folder, 'go');
    await mkdir(join(place, 'svc'), { recursive: true });
    await cp(join(programs, 'main.go'), join(place, 'main.go'));
    await writeFile(join(place, 'go.mod'), 'module conversion\n\ngo 1.24\n');
    const generator = ['-generate', 'types,client', '-package', 'svc', '-o', 'svc/svc.gen.go', description];
    await run(join(cache, 'oapi-codegen'), generator, place);
    await run('go', ['mod', 'tidy'], place);
    expect(await told('go', ['run', '.'], place)).toEqual(convertedByClient);
  });
});
