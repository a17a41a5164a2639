/** Jobs of any age, filtered by the service, run again and killed in the list; watches made, changed, retried and removed. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execution } from '../../support/service/client.ts';
import { needs } from '../../support/needs.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient } from '../../support/service/watches.ts';
import { allRules, barriers, colours, goTo, openBrowser, openPage, type OpenPage } from './chromium.ts';

describe('jobs and watches in the page', { timeout: 120_000, ...needs('chromium') }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let browser: Browser;
  let url: string;
  const loaded: number[] = [];
  let failed: number;

  beforeAll(async () => {
    [home, browser] = await Promise.all([trial.home({ 'cmd.enabled': 'true' }), openBrowser()]);
    service = await trial.service(home);
    url = `${service.url}/`;
    const { client } = service;
    const utf8 = new TextEncoder();
    const document = await client.upload('xml', 'pet.xml', utf8.encode('<pets><pet name="Ada"/></pets>'));
    const { jobs: first } = await client.run([
      execution('xml2er', document, [
        ['-o', 'metadb:pets'],
        ['--name', 'pets'],
      ]),
    ]);
    await client.ended(first[0]!);
    const broken = await client.upload('xml', 'broken.xml', utf8.encode('<pets><pet></pets>'));
    const { jobs } = await client.run(
      Array.from({ length: 27 }, () => execution('xsd2er', document, [['--name', 'names']])),
    );
    loaded.push(first[0]!);
    for (const job of jobs) await client.ended(job);
    const { jobs: last } = await client.run([
      execution('xml2er', broken, [
        ['-o', 'metadb:broken'],
        ['--name', 'broken'],
      ]),
    ]);
    failed = last[0]!;
    await client.ended(failed);
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
  });

  const open = (width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<OpenPage> =>
    openPage(browser, url, { width, height: 900, colorScheme }, service.key);

  it('filters and pages jobs in the service, and shows targets and failures', async () => {
    const { page, complaints, close } = await open();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('executions/all')) asked.push(decodeURIComponent(request.url()));
    });
    await goTo(page, '#/jobs');
    const row = page.getByRole('row', { name: `#${failed} ` });
    expect(await row.textContent()).toMatch(/failed.*broken\.xml.*metadb:broken/s);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByRole('link', { name: '#1', exact: true }).waitFor();
    expect(asked.at(-1)).toMatch(/[?&]cursor=/);
    expect(page.url()).toContain('cursor=');
    await page.reload();
    await page.getByRole('link', { name: '#1', exact: true }).waitFor();

    await page.getByLabel('State').selectOption({ label: 'Completed' });
    await page.getByLabel('Type').selectOption('Parse');
    await page.getByLabel('Schema').selectOption('pets');
    await page.getByRole('link', { name: 'metadb:pets' }).waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(asked.at(-1)).toMatch(/status=C&job_type=Parse&cfxml=pets/);
    await page.getByLabel('From').fill('2001-01-01');
    await page.getByLabel('To').fill('2001-12-31');
    await page.getByText('No job matches.').waitFor();
    await page.getByRole('link', { name: 'Show all jobs' }).click();
    await page.getByRole('link', { name: `#${failed}`, exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('runs a job again from the list, and leads from its target to the rows', async () => {
    const { page, complaints, close } = await open();
    await goTo(page, '#/jobs?schema=pets');
    await page.getByRole('button', { name: `Run job ${loaded[0]} again` }).click();
    await page.getByRole('heading', { name: /completed/ }).waitFor({ timeout: 60_000 });
    await page.locator('.figures').getByText('1 document', { exact: true }).waitFor();
    await goTo(page, '#/jobs?schema=pets');
    await page.getByRole('link', { name: 'metadb:pets' }).first().click();
    await page.getByRole('heading', { name: 'metadb:pets' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows the documents, rows, speed and time left of a running job', async () => {
    const { page, close } = await open();
    // a job of the service as it is while it runs: real ones end too soon
    const running = { status: 'R', progress: 0.25, start_date: Date.now() - 20_000, end_date: null };
    await page.route('**/v2/executions/all?*', async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: { ...answer, content: [{ ...answer.content[0], ...running }] } });
    });
    await page.route('**/v2/executions/log/*', async (route) => {
      const answer = await (await route.fetch()).json();
      const log = 'loading: 12 documents, 3.1 MB/s, 3400 rows; 25 % of the job\n';
      await route.fulfill({ json: { ...answer, log } });
    });
    await goTo(page, '#/jobs');
    await page.getByText(/^3\.1 MB\/s, 12 documents, 3,400 rows, 1 min \d+ s left$/).waitFor();
    await page.getByRole('button', { name: /^Kill job/ }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await close();
  });

  it('makes, changes, retries and removes a watch', async () => {
    const { page, complaints, close } = await open();
    const inbox = join(home.directory, 'files', '1', 'inbox');
    await mkdir(inbox, { recursive: true });
    await writeFile(join(inbox, 'good.xml'), '<pets><pet name="Bo"/></pets>');
    await writeFile(join(inbox, 'bad.xml'), '<pets><pet></pets>');
    await goTo(page, '#/watches');
    await page.getByText('No watches yet.').waitFor();
    await page.getByRole('link', { name: 'Make a watch' }).click();
    await page.getByLabel('Name', { exact: true }).fill('inbox of pets');
    await page.getByLabel('Location').fill('inbox');
    await page.getByLabel('Target').fill('metadb:watched');
    await page.getByLabel('Look every').fill('1s');
    await page.getByText('More settings').click();
    await page.getByLabel('Unchanged for').fill('0s');
    await page.getByLabel('Options').fill('{"--views": tru}');
    await page.getByRole('button', { name: 'Make the watch' }).click();
    await page.getByText('The options are not JSON').waitFor();
    await page.getByLabel('Options').fill('{"--views": true}');
    await page.getByRole('button', { name: 'Make the watch' }).click();

    await page.getByRole('heading', { name: 'inbox of pets' }).waitFor();
    await page.getByRole('row', { name: /good\.xml loaded/ }).waitFor({ timeout: 60_000 });
    const bad = page.getByRole('row', { name: /bad\.xml rejected.*expected the end tag/ });
    await bad.waitFor({ timeout: 60_000 });
    await page.getByLabel('State', { exact: true }).selectOption('rejected');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    await bad.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('bad.xml will be tried again.').waitFor();

    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Name', { exact: true }).fill('pets');
    await page.getByLabel('Paused').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'pets', exact: true }).waitFor();
    const [watch] = (await service.client.get<{ content: { id_watch: number }[] }>('/v2/watches')).content;
    expect(await watchClient(service.client).get(watch!.id_watch)).toMatchObject({
      name: 'pets',
      paused: true,
      options: { '--views': true },
      every: '1s',
    });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No watches yet.').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('says what is wrong with a watch, and with a list that cannot be read, and tries again', async () => {
    const { page, close } = await open();
    await goTo(page, '#/watches/new');
    await page.getByLabel('Name', { exact: true }).fill('x');
    await page.getByLabel('Location').fill('inbox');
    await page.getByLabel('Target').fill('metadb:x');
    await page.getByLabel('Look every').fill('often');
    await page.getByRole('button', { name: 'Make the watch' }).click();
    await page.getByRole('alert').getByText(/every/).waitFor();
    await page.route('**/v2/watches?*', (route) => route.abort(), { times: 1 });
    await goTo(page, '#/watches');
    await page.getByText('The service does not answer').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No watches yet.').waitFor();
    await close();
  });

  it.each([
    ['light', 1280],
    ['dark', 375],
  ] as const)('has no barrier in empty lists and forms: %s, %i', async (colorScheme, width) => {
    const { page, complaints, close } = await open(width, colorScheme);
    for (const view of ['#/watches', '#/watches/new', '#/jobs', '#/jobs?status=L']) {
      await goTo(page, view);
      if (view.endsWith('new')) await page.getByText('More settings').click();
      expect([view, await barriers(page, width > 500 ? allRules : colours)]).toEqual([view, []]);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([view, wide <= width]).toEqual([view, true]);
    }
    expect(complaints).toEqual([]);
    await close();
  });
});
