/** The Python client, installed from the checkout, with a running service; and mypy of its types. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lackOf, needs, skipFor } from '../../support/needs.ts';
import { pythonWithClient } from '../../support/python-client.ts';
import {
  createServiceHome,
  projectRoot,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { firstLine } from '../../support/tool-cache.ts';
import { blockIn, readBlocks } from '../readme/blocks.ts';

const execute = promisify(execFile);

describe('the Python client', { timeout: 300_000, ...needs('whole run') }, () => {
  let home: ServiceHome;
  let service: RunningService;
  let folder: string;
  let python: string | null = null;
  let why = '';

  beforeAll(async () => {
    if (lackOf('whole run') !== null) return;
    try {
      python = await pythonWithClient('python-client', ['mypy==2.4.1']);
    } catch (error) {
      why = firstLine(error);
      return;
    }
    home = await createServiceHome();
    service = await startService(home);
    folder = await mkdtemp(join(tmpdir(), 'python-client-'));
  }, 300_000);

  afterAll(async () => {
    await service?.end('SIGTERM');
    await home?.remove();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('converts, follows, waits, pages, resumes and repeats; failures and refusals are exceptions', async (context) => {
    if (python === null) return skipFor(context, 'python client', why);
    const documents = join(projectRoot, 'scripts/demo/documents');
    const document = join(documents, 'orders-2026-03-04-a.xml');
    const xsds = join(folder, 'set.zip');
    await execute(python, ['-m', 'zipfile', '-c', xsds, join(projectRoot, 'scripts/demo/xsd') + '/']);
    const program = join(projectRoot, 'test/fixtures/clients/python_client.py');
    const { stdout } = await execute(python, [program, service.url, service.key, document, xsds, folder], {
      cwd: folder,
    });
    const told = JSON.parse(stdout) as Record<string, unknown> & { rows: Record<string, number> };
    expect(told.rows).toMatchObject({ order: 28, line: 94 });
    expect(told).toEqual({
      rows: told.rows,
      result: 1,
      ddl: true,
      svg: '<svg',
      with_xsd: 'C',
      waited: ['C'],
      same: true,
      log: true,
      resumed: true,
      log_resumed: true,
      failed: ['F', 'failed', expect.stringContaining('broken.xml: line 1, column 14'), true, true],
      refused: 'xml_mismatched_tag',
      problem: [404, 'not_found'],
      places: [400, 1],
      unauthorised: 401,
      retried: true,
      retried_run: true,
      retried_upload: true,
      not_repeated: true,
      retried_running: true,
      retried_at_date: true,
      not_waited_for: ['3600', 1],
      // a first try and five more
      given_up: [503, 14],
      post_not_repeated: 503,
      folder: true,
      pages: [true, true],
      few: 3,
      lists: {
        executions: true,
        filtered: expect.any(Number) as unknown,
        cil_jobs: true,
        workflows: true,
        schemas: true,
        cil_mappings: true,
        rows: true,
        keys: true,
        watches: [],
        awaited: true,
      },
      timeout: true,
      awaited: 'C',
    });
    expect(await readFile(join(folder, 'mappings.csv'), 'utf8')).toContain('/orders/order');
  });

  it('does what its page says', async (context) => {
    if (python === null) return skipFor(context, 'python client', why);
    for (const [name, source] of [
      ['orders.zip', 'documents'],
      ['orders-xsd.zip', 'xsd'],
    ] as const)
      await execute(python, [
        '-m',
        'zipfile',
        '-c',
        join(folder, name),
        join(projectRoot, 'scripts/demo', source) + '/',
      ]);
    const blocks = readBlocks(await readFile(join(projectRoot, 'docs/how-to/python-client.md'), 'utf8'));
    const documents = join(projectRoot, 'scripts/demo/documents');
    const program = join(folder, 'page.py');
    const run = async (heading: string): Promise<string> => {
      const shown = blockIn(blocks, heading, 'python').replace('http://127.0.0.1:8080', service.url);
      await writeFile(program, `key = '${service.key}'\n${shown}`);
      return (await execute(python!, [program], { cwd: folder })).stdout;
    };
    const converted = await run('Use the Python client');
    expect(converted).toMatch(/^\{.*'order': 41/);
    expect(converted).toContain('CREATE TABLE');
    expect(converted).toMatch(/^loaded 4, unknown root 0/m);
    const [first, ...others] = (await run('Lists')).trimEnd().split('\n');
    expect(first).toMatch(/^\d+ Parse$/);
    expect(others.filter((line) => line.startsWith('[')).length).toBeGreaterThan(94);
    await mkdir(join(folder, 'invoices'));
    await cp(join(documents, 'orders-2026-03-04-a.xml'), join(folder, 'invoices/one.xml'));
    await run('Repeated requests');
  });

  it('has types that mypy --strict passes, of its own and where it is used', async (context) => {
    if (python === null) return skipFor(context, 'python client', why);
    const use = join(folder, 'use.py');
    const head = 'from conversion_job_service import Client, execution\n';
    await writeFile(use, `${head}rows: int = Client("http://x").run([execution("xml2er")])["jobs"][0]\n`);
    const strict = [
      '-m',
      'mypy',
      '--strict',
      '--python-version',
      '3.10',
      '--cache-dir',
      join(folder, 'cache'),
    ];
    const own = join(projectRoot, 'clients/python/src/conversion_job_service');
    const sources = ['client', 'models', 'operations', 'async_operations', 'errors', '_transport'].map(
      (name) => join(own, `${name}.py`),
    );
    expect((await execute(python, [...strict, use, ...sources], { cwd: folder })).stdout).toContain(
      'Success',
    );
    await writeFile(use, `${head}rows: str = Client("http://x").run([execution("xml2er")])["jobs"][0]\n`);
    await expect(execute(python, [...strict, use], { cwd: folder })).rejects.toMatchObject({
      stdout: expect.stringContaining('Incompatible types in assignment') as unknown,
    });
  });
});
