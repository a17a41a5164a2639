/** The reference page in a real browser that can reach nothing but the service. */
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueKey } from '../../../src/service/access/keys.ts';
import { createPackageAssetStore } from '../../../src/runtime/package-asset-store.ts';
import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/properties.ts';
import { createMemoryAdapters } from '../../support/memory/adapters.ts';
import { needs, programOf } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const executablePath = programOf('chromium') ?? '';

const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // No name but the loopback address resolves: the machine may as well have no network.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

describe('/doc in a browser, offline', { timeout: 60_000, ...needs(['chromium', 'whole run']) }, () => {
  let server: Server;
  let origin: string;
  let browser: Browser;
  let page: Page;
  const trial = useTrial();
  let folder: string;
  let key: string;
  const complaints: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    folder = await trial.folder('doc-browser-');
    const adapters = createMemoryAdapters();
    ({ key } = await issueKey(adapters.access, {
      idOrg: 1,
      name: 'reader',
      scopes: ['schemas:read'],
      expiresAt: null,
    }));
    const app = createApp({ ...adapters, assets: createPackageAssetStore() }, readConfig({}));
    const { server: started, info } = await new Promise<{ server: Server; info: AddressInfo }>((resolve) => {
      const listening = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, (address) =>
        resolve({ server: listening as Server, info: address }),
      );
    });
    server = started;
    origin = `http://127.0.0.1:${info.port}`;
    browser = await chromium.launch({ executablePath, args: quiet });
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) =>
      complaints.push(`${request.url()}: ${request.failure()?.errorText}`),
    );
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${origin}/doc`);
    await page.locator('.opblock').first().waitFor();
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    await new Promise((done) => (server === undefined ? done(null) : server.close(done)));
  });

  it('shows every operation of the OpenAPI document', async () => {
    const answer = await fetch(`${origin}/doc`, { headers: { Accept: 'application/json' } });
    const { info, paths } = (await answer.json()) as {
      info: { version: string };
      paths: Record<string, object>;
    };
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((key) => /^(get|put|post|delete|options|head|patch|trace)$/.test(key))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    await page.locator('#operations-tag-error[data-is-open="false"]').waitFor();
    expect(await page.locator('.opblock [data-path="/error"]').count()).toBe(0);
    await page.locator('#operations-tag-error').click();
    await page.locator('.opblock [data-path="/error"]').first().waitFor();
    const shown = await page.locator('.opblock').evaluateAll((blocks) =>
      blocks.map((block) => {
        const method = block.querySelector('.opblock-summary-method')?.textContent ?? '';
        const path = block.querySelector('.opblock-summary-path')?.getAttribute('data-path') ?? '';
        return `${method} ${path}`;
      }),
    );
    expect(info.version).toBe('1.0');
    expect(shown.toSorted()).toEqual(operations.toSorted());
    expect(shown).toContain('POST /v2/run/cmd');
    expect(await page.locator('.opblock').first().isVisible()).toBe(true);
  });

  it('opens an operation and runs it against this service', async () => {
    const operation = page.locator('.opblock', { has: page.locator('[data-path="/actuator/info"]') });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answer = operation.locator('.live-responses-table .response-col_status').last();
    await answer.waitFor();
    expect((await answer.textContent())?.trim()).toMatch(/^200/);
  });

  it('tells a newcomer the first five calls', async () => {
    const landing = page.locator('.information-container .renderedMarkdown').first();
    expect(await landing.locator('ol > li').count()).toBe(5);
    for (const call of ['POST /v2/file/upload/token', 'POST /v2/run/cmd', 'GET /v2/schema/ddl/{idSch}'])
      expect(await landing.textContent()).toContain(call);
  });

  it('leads from each of them to its operation', async () => {
    const links = page.locator('.information-container .renderedMarkdown ol a');
    const hashes = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    expect(hashes).toHaveLength(7);
    for (const [index, hash] of hashes.entries()) {
      await links.nth(index).click();
      const id = `#operations-${hash.slice('#/'.length).replace('/', '-')}`;
      await page.locator(`${id}.is-open`).waitFor();
    }
  });

  it('lists the options of the tools, and answers that were given', async () => {
    const operation = page.locator('#operations-run-runCommands');
    expect(await operation.textContent()).toContain('loads documents into tables');
    expect(await operation.locator('.renderedMarkdown li').count()).toBeGreaterThan(60);
    const faults = operation.locator('.responses-inner .examples-select option');
    expect(await faults.allTextContents()).toContain('The tool has no such option');
    await page.goto(`${origin}/doc`);
    await page.locator('.opblock').first().waitFor();
  });

  it('sends the key that was given under Authorize', async () => {
    const operation = page.locator('.opblock', { has: page.locator('[data-path="/v2/about/org"]') });
    const status = operation.locator('.live-responses-table .response-col_status').last();
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    await status.waitFor();
    expect((await status.textContent())?.trim()).toMatch(/^401/);
    // the answer without a key is what the browser itself would complain of
    complaints.length = 0;

    await page.locator('.auth-wrapper .authorize').first().click();
    const dialog = page.locator('.dialog-ux .auth-container', { hasText: 'http, Bearer' });
    await dialog.locator('input').fill(key);
    await dialog.getByRole('button', { name: 'Apply credentials' }).click();
    await page.locator('.dialog-ux .btn-done, .dialog-ux .close-modal').last().click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
    expect(
      await operation.locator('.live-responses-table .response-col_description').last().textContent(),
    ).toContain('"id_org": 1');
  });

  it('prefills required parameters alone, and tells the examples of the others', async () => {
    const operation = page.locator('.opblock', { has: page.locator('[data-path="/v2/schema/ddl/{idSch}"]') });
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    const optional = operation.locator('[data-param-name="id_lschma"]');
    expect(await optional.locator('input').inputValue()).toBe('');
    expect(await optional.textContent()).toContain('For example: 4');
    expect(await operation.locator('[data-param-name="idSch"] input').inputValue()).toBe('1');
    const asked = page.waitForRequest(/\/v2\/schema\/ddl\//);
    await operation.locator('[data-param-name="idSch"] input').fill('1');
    await operation.getByRole('button', { name: 'Execute' }).click();
    expect((await asked).url()).toBe(`${origin}/v2/schema/ddl/1`);
    const answer = operation.locator('.live-responses-table .response-col_status').last();
    await answer.waitFor();
    // there is no such schema here, of which the browser itself complains
    expect((await answer.textContent())?.trim()).toMatch(/^404/);
    complaints.length = 0;
  });

  it('remembers the key when it is loaded again, in this tab alone', async () => {
    await page.reload();
    await page.locator('.auth-wrapper .authorize.locked').first().waitFor();
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
    const other = await browser.newPage();
    await other.goto(`${origin}/doc`);
    await other.locator('.auth-wrapper .authorize.unlocked').first().waitFor();
    expect(await other.evaluate(() => sessionStorage.length)).toBe(0);
    await other.close();
  });

  it('finds operations by the words of their path, summary and description', async () => {
    const filter = page.locator('.operation-filter-input');
    const blocks = page.locator('.opblock');
    await filter.fill('DDL schema');
    await expect.poll(() => blocks.count(), { timeout: 20_000 }).toBeLessThan(10);
    expect(await page.locator('.opblock [data-path="/v2/schema/ddl/{idSch}"]').count()).toBe(1);
    await filter.fill('no such words');
    await expect.poll(() => blocks.count(), { timeout: 20_000 }).toBe(0);
    await filter.fill('');
    await expect.poll(() => blocks.count(), { timeout: 20_000 }).toBeGreaterThan(50);
  });

  it('fits a phone, and is dark where the system is', async () => {
    const context = await browser.newContext({
      viewport: { width: 390, height: 844 },
      isMobile: true,
      colorScheme: 'dark',
    });
    const phone = await context.newPage();
    await phone.goto(`${origin}/doc`);
    await phone.locator('.opblock').first().waitFor();
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBe(390);
    const background = (): Promise<unknown> =>
      phone.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    expect(await background()).toBe('rgb(28, 32, 34)');
    await phone.emulateMedia({ colorScheme: 'light' });
    await expect.poll(background, { timeout: 20_000 }).not.toBe('rgb(28, 32, 34)');
    await context.close();
  });

  it('asks no other host and reports no fault', async () => {
    const picture = join(folder, 'doc.png');
    await page.screenshot({ path: picture });
    expect((await readFile(picture)).byteLength).toBeGreaterThan(20_000);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([]);
    expect(requests).toContain(`${origin}/doc`);
    expect(complaints).toEqual([]);
  });
});
