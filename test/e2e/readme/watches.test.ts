/** The commands and bodies of docs/how-to/watches.md, on the demo's documents. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { projectRoot, readText } from '../../rules/project-files.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';
import { blockIn, readBlocks } from './blocks.ts';
import { runShell } from './shell.ts';

const blocks = readBlocks(readText('docs/how-to/watches.md'));
const code = (heading: string, language: string): string => blockIn(blocks, heading, language);

describe('docs/how-to/watches.md', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let watches: WatchClient;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': 'db.bank.example:5432' });
    service = await trial.service(home, {
      SVC_SOURCES_BANK_LOCATION: 's3://bank-inbox/statements',
      SVC_SOURCES_BANK_ACCESS_KEY: 'a',
      SVC_SOURCES_BANK_SECRET_KEY: 'b',
    });
    watches = watchClient(service.client);
    const inbox = join(home.directory, 'files', '1', 'inbox');
    await mkdir(inbox, { recursive: true });
    const demo = join(projectRoot, 'scripts/demo/documents');
    for (const name of ['orders-2026-03-04-a.xml', 'orders-2026-03-03-a.xml'])
      await copyFile(join(demo, name), join(inbox, name));
  });

  it('A folder: the commands make a watch, and show its files', async () => {
    const { code: exit, output } = await runShell(code('A folder', 'sh'), { SVC_HOME: home.directory });
    expect(exit, output).toBe(0);
    expect(output).toMatch(/^name +orders$/m);
    const [watch] = (await service.client.get<{ content: { id_watch: number }[] }>('/v2/watches')).content;
    // the files have settled after 30 s
    await watches.change(watch!.id_watch, { settle: '0s' });
    const files = await watches.settled(watch!.id_watch, 2);
    expect(files.map(({ status }) => status)).toEqual(['loaded', 'loaded']);
    const twin = JSON.parse(code('A folder', 'json')) as Record<string, unknown>;
    const made = await watches.get(watch!.id_watch);
    for (const [member, value] of Object.entries(twin))
      expect([member, made]).toEqual([member, expect.objectContaining({ [member]: value })]);
    await expect(watches.create(twin)).rejects.toThrow('409');
    expect(await watches.create({ ...twin, name: 'twin', paused: true })).toMatchObject({ paused: true });
  });

  it('A bucket: the body is one that the service takes', async () => {
    const body = JSON.parse(code('A bucket', 'json')) as Record<string, unknown>;
    const made = await watches.create({ ...body, paused: true });
    expect(made).toMatchObject({ ...body, paused: true, next_run: null });
  });

  it('Rows of a database: the body is one that the service takes, and its password is not shown', async () => {
    const body = JSON.parse(code('Rows of a database', 'json')) as { location: string };
    const made = await watches.create({ ...body, paused: true });
    const location = body.location.replace('PASSWORD', '***');
    expect(made).toMatchObject({ ...body, location, paused: true, next_run: null });
  });
});
