/** A kind of targets that a host application brings: the one of the examples. */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseSync } from 'node:sqlite';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { openDocuments } from '../../../examples/own-target.ts';
import { rowStoreContract } from '../../../src/testing.ts';
import { execution } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { readText } from '../../rules/project-files.ts';
import { blockIn, readBlocks } from '../readme/blocks.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/', import.meta.url));
const [first, second, third] = ['first.xml', 'second.xml', 'third.xml'].map((name) =>
  join(fixtures, name),
) as [string, string, string];

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let origin: string;

beforeAll(async () => {
  home = await trial.home({
    'cmd.enabled': 'true',
    'svc.targets.modules': fileURLToPath(new URL('../../../examples/own-target.ts', import.meta.url)),
  });
  service = await trial.service(home);
  origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
}, 120_000);

const fileOf = (name: string): string => join(home.directory, 'files', `${name}.db`);

/** Numbers of documents by collection. */
function collections(name: string): Record<string, number> {
  const database = new DatabaseSync(fileOf(name), { readOnly: true });
  try {
    const rows = database
      .prepare('SELECT collection, count(*) AS n FROM document GROUP BY 1 ORDER BY 1')
      .all();
    return Object.fromEntries(rows.map((row) => [row['collection'] as string, row['n'] as number]));
  } finally {
    database.close();
  }
}

async function writtenBack(target: string, folder: string): Promise<Map<string, Uint8Array>> {
  const out = join(home.directory, 'files', folder);
  await convert(home, 'er2xml', '-x', origin, '-i', target, '-o', out);
  const names = (await readdir(out)).filter((name) => name.endsWith('.xml'));
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(out, name))] as const)),
  );
}

describe('a registered kind of targets', { timeout: 120_000 }, () => {
  it('takes documents, more documents, and gives all of them back', async () => {
    const target = `documents:${fileOf('round')}`;
    await convert(home, 'xml2er', first, '-x', origin, '-o', target);
    const after = collections('round');
    expect(after['_documents']).toBe(1);
    const more = await convert(home, 'xml2er', second, third, '-x', origin, '-o', target);
    expect(collections('round')['_documents']).toBe(3);
    for (const [table, rows] of Object.entries(more.tables))
      expect(collections('round')[table]).toBe((after[table] ?? 0) + rows);
    const back = await writtenBack(target, 'back');
    expect([...back.keys()].toSorted()).toEqual(['first.xml', 'second.xml', 'third.xml']);
    const folder = join(home.directory, 'files', 'json-lines');
    await convert(home, 'xml2er', first, second, third, '-x', origin, '-o', folder, '-f', 'jsonl');
    expect(back).toEqual(await writtenBack(folder, 'same'));
  });

  it('loads what it holds only once, and replaces it with -S o', async () => {
    const target = `documents:${fileOf('modes')}`;
    await convert(home, 'xml2er', first, '-x', origin, '-o', target);
    const again = await convert(home, 'xml2er', first, second, '-x', origin, '-o', target, '--skip-loaded');
    expect(again.documents).toBe(1);
    const refused = await runTool(home, 'xml2er', [third, '-x', origin, '-o', target, '-S', 'e']);
    expect(refused.stderr + refused.stdout).toContain('already hold rows');
    await convert(home, 'xml2er', third, '-x', origin, '-o', target, '-S', 'o');
    expect(collections('modes')['_documents']).toBe(1);
    expect([...(await writtenBack(target, 'replaced')).keys()]).toEqual(['third.xml']);
  });

  it('says what it cannot do', async () => {
    const target = `documents:${fileOf('limits')}`;
    await convert(home, 'xml2er', first, '-x', origin, '-o', target);
    const unload = await runTool(home, 'unload', ['-x', origin, '-i', target, '-D', 'first.xml']);
    expect(unload.code).not.toBe(0);
    expect(unload.stdout).toContain('load the others again with -S o');
    const unknown = await runTool(home, 'xml2er', [first, '-x', origin, '-o', 'other:place']);
    expect(unknown.stdout + unknown.stderr).toContain('iceberg:https://…, documents:FILE or a folder');
  });

  it('serves jobs over REST, and its check refuses what it does not accept', async () => {
    const { client } = service;
    const input = await client.upload('xml', 'first.xml', await readFile(first));
    const refused = await client.post('/v2/run/cmd', {
      executions: [execution('xml2er', input, [['-o', 'documents:relative.db']], origin)],
    });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).toContain('needs the absolute path of a file');
    const {
      jobs: [idJob],
    } = await client.run([execution('xml2er', input, [['-o', `documents:${fileOf('rest')}`]], origin)]);
    expect(await client.ended(idJob!)).toMatchObject({ status: 'C' });
    expect(collections('rest')['_documents']).toBe(1);
  });
});

describe('the store of the example', () => {
  const cases = rowStoreContract((place) => Promise.resolve(openDocuments(fileOf(`contract-${place}`))));
  it.each(cases.map((one) => [one.name, one] as const))('%s', (_, { run }) => run());

  it('passes the contract as docs/how-to/embed.md runs it', async () => {
    const folder = await trial.folder('own-target-');
    const page = readBlocks(readText('docs/how-to/embed.md'));
    const example = new URL('../../../examples/own-target.ts', import.meta.url);
    const script = blockIn(page, 'Targets of your own', 'ts')
      .replace('conversion-job-service/testing', new URL('../../../src/testing.ts', import.meta.url).href)
      .replace('./own-target.ts', example.href)
      .replace('/tmp/orders', folder);
    const file = join(folder, 'own-target.test.ts');
    await writeFile(file, script);
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file]);
    expect(stdout).toMatch(new RegExp(`^# pass ${cases.length}$`, 'm'));
  });
});
