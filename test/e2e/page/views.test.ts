/** Every view of the page in a real browser: without barriers, in light and dark, on a phone, by keyboard alone; names are text. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { needs } from '../../support/needs.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { watchClient } from '../../support/service/watches.ts';
import { useTrial } from '../../support/service/trial.ts';
import { allRules, barriers, colours, goTo, openBrowser, openPage } from './chromium.ts';

const desk = { width: 1280, height: 900 };
const phone = { width: 375, height: 812 };
/** what a name could do where it became markup */
const hostile = '<img src=x onerror="document.title=1">';

describe('the page in a browser', { timeout: 120_000, ...needs('chromium') }, () => {
  let home: ServiceHome;
  const trial = useTrial();
  let service: RunningService;
  let browser: Browser;
  let conversion: Conversion;
  let hostileJob: number;
  let idWatch: number;
  let url: string;

  beforeAll(async () => {
    [home, browser] = await Promise.all([trial.home(), openBrowser()]);
    service = await trial.service(home);
    url = `${service.url}/`;
    conversion = await convertFreight(service.client, 'freight');
    const archive = zipped([{ name: `${hostile}.xml`, bytes: new TextEncoder().encode('<a><b></a>') }]);
    const path = await service.client.upload('xml', 'documents.zip', archive);
    const plain = await service.client.upload('xml', 'a.xml', new TextEncoder().encode('<a/>'));
    const options = [
      ['-o', 'metadb:freight_rows'],
      ['-x', String(conversion.idSch)],
      ['--on-error', 'skip'],
    ] as const;
    const runs = [
      await service.client.run([execution('xml2er', path, options)], hostile),
      await service.client.run([execution('xml2er', plain, [['--name', hostile]])], hostile),
    ];
    for (const { jobs } of runs) await service.client.ended(jobs[0]!);
    hostileJob = runs[0]!.jobs[0]!;
    const watch = await watchClient(service.client).create({
      name: hostile,
      location: 'uploads',
      target: 'metadb:watched',
      every: '1h',
      paused: true,
    });
    idWatch = watch.id_watch;
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
  });

  const views = (): string[] => {
    const { idSch, loaded } = conversion;
    return [
      '#/convert',
      '#/jobs',
      `#/jobs/${loaded.id_job}`,
      '#/schemas',
      ...['overview', 'tables', 'diagram', 'mappings', 'statistics', 'ddl', 'compare'].map(
        (part) => `#/schemas/${idSch}/${part}`,
      ),
      '#/watches',
      `#/watches/${idWatch}`,
      `#/watches/${idWatch}/edit`,
      '#/watches/new',
      '#/rows',
      `#/rows?target=metadb%3A${conversion.sqlSchema}&table=package`,
      `#/rows?target=metadb%3A${conversion.sqlSchema}&table=package&part=columns`,
      '#/nothing-like-this',
    ];
  };

  it.each(['light', 'dark'] as const)('has no barrier that axe-core knows of: %s', async (colorScheme) => {
    const { page, complaints, close } = await openPage(browser, url, { ...desk, colorScheme }, service.key);
    const found: string[] = [];
    // the rules that colours do not change are the same in both
    for (const view of colorScheme === 'light' ? views() : views().filter((_, at) => at % 2 === 0)) {
      await goTo(page, view);
      found.push(
        ...(await barriers(page, colorScheme === 'light' ? allRules : colours)).map(
          (line) => `${view} ${line}`,
        ),
      );
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    expect(await page.context().cookies()).toEqual([]);
    await close();
  });

  it('fits a phone, without scrolling sideways', async () => {
    const { page, complaints, close } = await openPage(browser, url, phone, service.key);
    for (const view of views()) {
      await goTo(page, view);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([view, width]).toEqual([view, phone.width]);
    }
    expect(complaints).toEqual([]);
    await close();
  });

  it('asks for a key, says what is wrong with one, and keeps it for the tab or the browser', async () => {
    const { page, complaints, close } = await openPage(browser, url, desk);
    const input = page.getByLabel('API key');
    await input.waitFor();
    expect(await page.locator('main').textContent()).toContain('admin.key');
    expect(await barriers(page)).toEqual([]);
    await input.fill('svk_of_another_service');
    await page.keyboard.press('Enter');
    await page.getByText('does not know this key').waitFor();
    await input.fill(service.key);
    await page.getByLabel('Remember it in this browser').check();
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    const kept = await page.evaluate(() => [localStorage.length, sessionStorage.length, location.href]);
    expect(kept).toEqual([1, 0, url]);
    await page.getByRole('button', { name: /^Key/ }).click();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    await input.waitFor();
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).toBe(0);
    expect(complaints.filter((line) => !line.includes('401'))).toEqual([]);
    await close();
  });

  it('says what a key lacks', async () => {
    const { body } = await service.client.post<{ key: string }>('/v2/admin/keys', {
      name: 'reader',
      scopes: ['jobs:read'],
    });
    const { page, close } = await openPage(browser, url, desk, body.key);
    await goTo(page, '#/schemas');
    await page.getByText('schemas:read').waitFor();
    await close();
  });

  it('works by keyboard alone: to a job, to a table, through the diagram', async () => {
    const { page, complaints, close } = await openPage(browser, url, desk, service.key);
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    const press = async (key: string, until: string): Promise<void> => {
      for (let times = 0; times < 60; times += 1) {
        await page.keyboard.press(key);
        const at = await page.evaluate(
          () =>
            document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
        );
        if (at === until) return;
      }
      throw new Error(`${key} never came to ${until}`);
    };
    await press('Tab', 'Skip to the content');
    await press('Tab', 'Schemas');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Schemas', exact: true }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
    await press('Tab', 'freight');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'freight', exact: true }).waitFor();
    await press('Tab', 'Diagram');
    await page.keyboard.press('Enter');
    const stage = page.getByRole('application');
    await stage.waitFor();
    await press('Tab', `Search ${await drawn()} tables`);
    await page.keyboard.type('package');
    await page.keyboard.press('Enter');
    await page.getByText(/^package and \d+ neighbours? of/).waitFor();
    expect(page.url()).toContain('table=package');
    await press('Tab', 'Diagram of freight');
    const shown = (): Promise<string | null> => stage.locator('> g').getAttribute('transform');
    const before = await shown();
    await page.keyboard.press('+');
    await expect.poll(shown).not.toBe(before);
    const larger = await shown();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(shown).not.toBe(larger);
    await page.keyboard.press('0');
    await expect.poll(shown).toBe(before);
    await page.keyboard.press('Escape');
    await page.getByText(/^All \d+ tables\.$/).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  async function drawn(): Promise<number> {
    const { tables } = await service.client.get<{ tables: { name: string }[] }>(
      `/v2/diagram/get/${conversion.idSch}`,
    );
    return tables.filter(({ name }) => name !== '_documents').length;
  }

  it('is scaled by the wheel around the pointer, and goes to neighbours by a double click', async () => {
    const { page, complaints, close } = await openPage(browser, url, desk, service.key);
    await goTo(page, `#/schemas/${conversion.idSch}/diagram`);
    const scale = page.locator('.scale');
    const before = await scale.textContent();
    const table = page.locator('.stage [data-table] .name').first();
    const name = await table.textContent();
    await table.hover();
    const place = await table.boundingBox();
    await page.mouse.wheel(0, -200);
    await expect.poll(() => scale.textContent()).not.toBe(before);
    const after = await table.boundingBox();
    expect(Math.abs(after!.x - place!.x)).toBeLessThan(place!.width);
    await table.dblclick();
    await page.getByText(new RegExp(`^${name} and \\d+ neighbours? of`)).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('shows names of files, documents and schemas as text', async () => {
    const { page, complaints, close } = await openPage(browser, url, desk, service.key);
    await goTo(page, `#/jobs/${hostileJob}`);
    await page.getByRole('heading', { name: '1 reject' }).waitFor();
    expect(await page.locator('td[data-label="Document"]').textContent()).toContain('<img src=x');
    await goTo(page, '#/schemas');
    await page.getByRole('link', { name: '<img src=x' }).click();
    await page.getByRole('heading', { name: '<img src=x' }).waitFor();
    await goTo(page, '#/watches');
    await page.getByRole('heading', { name: 'Watches' }).waitFor();
    const cells = await page.locator('table tbody td').allTextContents();
    expect(cells.slice(0, 4)).toEqual([hostile, 'paused', 'uploads', 'metadb:watched']);
    await goTo(page, '#/convert');
    await page
      .getByLabel('Choose files')
      .setInputFiles({ name: `${hostile}.xml`, mimeType: 'text/xml', buffer: Buffer.from('<a/>') });
    expect(await page.locator('.files .path').textContent()).toBe(`${hostile}.xml`);
    expect(await page.locator('main img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  });
});
