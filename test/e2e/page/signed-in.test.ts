/** The page inside of a host that signs its users in: no key is asked for. No worker runs there, so a job waits to be killed. */
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { serve } from '@hono/node-server';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Adapters } from '../../../src/ports/adapters.ts';
import { execution } from '../../support/service/client.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { needs } from '../../support/needs.ts';
import { goTo, openBrowser, openPage } from './chromium.ts';

const callers: Adapters['callers'] = {
  identify: () =>
    Promise.resolve({ name: 'ada', idOrg: 1, scopes: ['jobs:read', 'jobs:run', 'schemas:read'] }),
};

describe('the page where the host signs in', { timeout: 60_000, ...needs('chromium') }, () => {
  let server: Server;
  let browser: Browser;
  let url: string;
  let idJob: number;

  beforeAll(async () => {
    const { app, adapters } = await createTestApp({ 'cmd.enabled': 'true' }, { callers });
    const { path } = await adapters.files.saveUpload(1, 'a.xml', new Blob(['<a/>']).stream(), 100);
    const answer = await app.request('/v2/run/cmd', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ executions: [execution('xml2er', path, [['-o', 'metadb:a']])] }),
    });
    [idJob] = ((await answer.json()) as { jobs: [number] }).jobs;
    const info = await new Promise<AddressInfo>((resolve) => {
      server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, resolve) as Server;
    });
    url = `http://127.0.0.1:${info.port}/`;
    browser = await openBrowser();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  it('asks for no key, shows a job as it is, and kills it once that is confirmed', async () => {
    const { page, complaints, close } = await openPage(browser, url, { width: 1280, height: 900 });
    await goTo(page, '#/jobs');
    await page.getByLabel('State').selectOption({ label: 'Completed' });
    await page.getByText('No job matches.').waitFor();
    await page.getByLabel('State').selectOption({ label: 'Queued' });
    await page.getByRole('button', { name: `Kill job ${idJob}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: `#${idJob}`, exact: true }).click();
    const heading = page.getByRole('heading', { name: `Job ${idJob}` });
    await heading.getByText('queued').waitFor();
    await page.getByRole('button', { name: 'Kill' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await heading.textContent()).toContain('queued');
    await page.getByRole('button', { name: 'Kill' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
    await heading.getByText('killed').waitFor();
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
