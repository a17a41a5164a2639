/** From a file that is dropped on the page to rows, below a prefix of a host; and the commands that the page shows, as they are. */
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService } from '../../../src/runtime/open-service.ts';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { runShell } from '../readme/shell.ts';
import { goTo, openBrowser, openPage, type OpenPage } from './chromium.ts';

type Service = Awaited<ReturnType<typeof openService>>;

describe('a conversion by dropping files', { timeout: 120_000, ...needs(['chromium', 'curl']) }, () => {
  const trial = useTrial();
  let folder: string;
  let service: Service;
  let server: Server;
  let browser: Browser;
  let url: string;
  let key: string;

  beforeAll(async () => {
    folder = await trial.folder('page-');
    [service, browser] = await Promise.all([
      openService({ environment: { SVC_HOME: folder, SVC_CMD_ENABLED: 'true' }, write: () => undefined }),
      openBrowser(),
    ]);
    const host = new Hono().get('/', (c) => c.text('the host’s own page')).route('/convert', service.app);
    await service.start();
    const info = await new Promise<AddressInfo>((resolve) => {
      server = serve({ fetch: host.fetch, hostname: '127.0.0.1', port: 0 }, resolve) as Server;
    });
    url = `http://127.0.0.1:${info.port}/convert/`;
    key = (await readFile(join(folder, 'admin.key'), 'utf8')).trim();
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
    await service?.close();
    server?.closeAllConnections();
    server?.close();
    if (folder !== undefined) {
      await stopEmbeddedPostgres(join(folder, 'db')).catch(() => undefined);
    }
  });

  const open = (): Promise<OpenPage> => openPage(browser, url, { width: 1280, height: 900 }, key);

  it('leads from a document to its rows', async () => {
    const { page, complaints, close } = await open();
    await goTo(page, '#/convert');
    await drop(page, [{ name: 'pets & co.xml', text: '<pets><pet name="Ada"/><pet name="Bo"/></pets>' }]);
    await page.getByRole('button', { name: 'Convert' }).click();
    expect(await rowsOf(page)).toMatchObject({ pet: '2' });
    await page.getByText('loaded 1').waitFor();
    await page.getByRole('link', { name: 'pet', exact: true }).click();
    await page.getByRole('heading', { name: 'pet', exact: true }).waitFor();
    await page.getByText('Rows 1 to 2 of 2').waitFor();
    expect(await page.locator('.values td', { hasText: /^(?:Ada|Bo)$/ }).allTextContents()).toEqual([
      'Ada',
      'Bo',
    ]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('takes a set and many documents as archives of its own, then shows what becomes of the job', async () => {
    const { page, complaints, close } = await open();
    await goTo(page, '#/convert');
    const set = filesBelow(freightXsdFolder).map(({ name, bytes }) => ({
      name: name.replaceAll('/', '-'),
      text: new TextDecoder().decode(bytes),
    }));
    // what lies in folders refers to it by them: here all lie beside each other
    const flat = set.map(({ name, text }) => ({
      name,
      text: text.replaceAll(/schemaLocation="([^"]+)"/g, (_, path: string) => {
        const own = set.find((one) => one.name.endsWith(path.split('/').at(-1)!));
        return `schemaLocation="${own?.name ?? path}"`;
      }),
    }));
    const documents = freightDocuments.map(({ name, text }) => ({
      name: `ä very long name ${'x'.repeat(120)} ${name}`,
      text,
    }));
    await drop(page, [...flat, ...documents]);
    expect(await page.getByLabel('Schema', { exact: true }).inputValue()).toBe('');
    await page.getByRole('button', { name: 'Convert' }).click();
    const rows = await rowsOf(page);
    expect(Object.keys(rows).length).toBeGreaterThan(2);
    expect(await page.locator('.figures').textContent()).toContain(`${documents.length} documents`);
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByText('Repeats', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows calls that do the same when they are run', async () => {
    const { page, close } = await open();
    await goTo(page, '#/convert');
    const name = `it's "$HOME" & co.xml`;
    const text = '<shop><sale no="1"/></shop>';
    await drop(page, [{ name, text }]);
    await page.getByLabel('SQL schema').fill('by_curl');
    const shown = await page.getByRole('region', { name: 'The same with curl' }).textContent();
    expect(shown).not.toContain(key);
    await close();
    await writeFile(join(folder, name), text);
    const { code, output } = await runShell(`cd '${folder}'\n${shown}`, {
      PATH: process.env['PATH'] ?? '',
      SVC_HOME: folder,
    });
    expect([code, output]).toEqual([0, expect.stringContaining('"error":false')]);
  });
});

/** Drops files as a browser does that gets them from a desktop. */
async function drop(
  page: Page,
  files: readonly { readonly name: string; readonly text: string }[],
): Promise<void> {
  const transfer = await page.evaluateHandle((given) => {
    const data = new DataTransfer();
    for (const { name, text } of given) data.items.add(new File([text], name));
    return data;
  }, files);
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
  await page.getByRole('heading', { name: `${files.length} file` }).waitFor();
}

/** Rows by table, once the job that is shown has completed. */
async function rowsOf(page: Page): Promise<Record<string, string>> {
  await page.getByRole('heading', { name: /completed/ }).waitFor({ timeout: 60_000 });
  await page.getByRole('heading', { name: 'Rows' }).waitFor();
  const rows = await page
    .locator('section[aria-label="Tables"] tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  return Object.fromEntries(rows);
}
