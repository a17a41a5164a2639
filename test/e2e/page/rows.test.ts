/** Rows in the page: exact values of every kind of target, sorted, filtered and copied, and statements with completion. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execution } from '../../support/service/client.ts';
import { needs } from '../../support/needs.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { allRules, barriers, colours, goTo, openBrowser, openPage, type OpenPage } from './chromium.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="ledger"><xs:complexType><xs:sequence>
    <xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="label" type="xs:string"/>
      <xs:element name="count" type="xs:long"/>
      <xs:element name="amount"><xs:simpleType><xs:restriction base="xs:decimal">
        <xs:totalDigits value="20"/><xs:fractionDigits value="4"/></xs:restriction></xs:simpleType></xs:element>
      <xs:element name="note" type="xs:string" minOccurs="0"/>
      <xs:element name="order" type="xs:string" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

const hostile = `<img src=x onerror="document.title=1">, it's`;
const entries = 130;

function ledger(): string {
  const rows = Array.from({ length: entries }, (_, at) => {
    const label = at === 3 ? hostile.replaceAll('<', '&lt;') : `label ${at}`;
    const count = at === 1 ? '9007199254740993' : at;
    const amount = at === 2 ? '1234567890123456.7891' : `${at}.5000`;
    return `<entry><label>${label}</label><count>${count}</count><amount>${amount}</amount>${
      at % 2 === 0 ? `<note>n${at}</note>` : ''
    }<order>o${at}</order></entry>`;
  });
  return `<ledger>${rows.join('')}</ledger>`;
}

const targets = {
  metadb: [['-o', 'metadb:ledger']],
  duckdb: [['-o', 'duckdb:ledger.duckdb']],
  sqlite: [['-o', 'sqlite:ledger.sqlite']],
  folder: [
    ['-o', 'ledger_csv'],
    ['-f', 'csv'],
  ],
} as const;
type Kind = keyof typeof targets;
const kinds = Object.keys(targets) as Kind[];

describe('rows in the page', { timeout: 120_000, ...needs('chromium') }, () => {
  const trial = useTrial();
  let service: RunningService;
  let browser: Browser;
  let url: string;
  const jobs = new Map<Kind, number>();

  beforeAll(async () => {
    const [home, opened] = await Promise.all([trial.home({ 'cmd.enabled': 'true' }), openBrowser()]);
    browser = opened;
    service = await trial.service(home);
    url = `${service.url}/`;
    const { client } = service;
    const utf8 = new TextEncoder();
    const schema = await client.upload('xsd', 'ledger.xsd', utf8.encode(xsd));
    const document = await client.upload('xml', 'ledger.xml', utf8.encode(ledger()));
    const answer = await client.run([
      execution('xsd2er', schema),
      ...kinds.map((kind) => execution('xml2er', document, targets[kind], '$0')),
    ]);
    for (const [at, kind] of kinds.entries()) jobs.set(kind, answer.jobs[at + 1]!);
    for (const job of answer.jobs) expect(await client.ended(job)).toMatchObject({ status: 'C' });
  }, 120_000);

  afterAll(async () => {
    await browser?.close();
  });

  const targetOf = (kind: Kind): string => targets[kind][0][1];
  const open = (width = 1280, colorScheme: 'light' | 'dark' = 'light'): Promise<OpenPage> =>
    openPage(browser, url, { width, height: 900, colorScheme }, service.key);
  const addressOf = (kind: Kind, more: Readonly<Record<string, string>> = {}): string =>
    `#/rows?${new URLSearchParams({ target: targetOf(kind), table: 'entry', ...more }).toString()}`;

  it.each(kinds)('%s: leads from the job to its rows, which are exact, sorted and filtered', async (kind) => {
    const { page, complaints, close } = await open();
    await goTo(page, `#/jobs/${jobs.get(kind)}`);
    await page.getByRole('link', { name: 'Show the rows' }).click();
    await page.getByRole('navigation', { name: 'Tables' }).getByRole('link', { name: 'entry' }).click();
    await page.getByText(`Rows 1 to 50 of ${entries}`).waitFor();
    const first = await columnsOf(page, 'count', 'amount');
    expect(first.slice(0, 3)).toEqual([
      ['0', expect.stringMatching(/^0\.50*$/)],
      ['9007199254740993', expect.stringMatching(/^1\.50*$/)],
      ['2', '1234567890123456.7891'],
    ]);

    await page.getByRole('button', { name: /^count/ }).click();
    await page
      .getByRole('columnheader', { name: /^count/ })
      .and(page.locator('[aria-sort="ascending"]'))
      .waitFor();
    await page.getByRole('button', { name: /^count/ }).click();
    await page.locator('[aria-sort="descending"]').waitFor();
    await expect
      .poll(async () => (await columnsOf(page, 'count')).slice(0, 2))
      .toEqual([['9007199254740993'], ['129']]);

    await page.getByRole('button', { name: /^amount/ }).click();
    await expect
      .poll(async () => (await columnsOf(page, 'count')).slice(9, 12))
      .toEqual([['10'], ['11'], ['12']]);
    await page.getByRole('button', { name: /^amount/ }).click();
    await expect.poll(async () => (await columnsOf(page, 'count')).slice(0, 2)).toEqual([['2'], ['129']]);

    await page.getByLabel('Filter by').selectOption('label');
    await page.getByLabel('Value', { exact: true }).fill(`it's`);
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('Rows 1 to 1 of 1').waitFor();
    expect(await columnsOf(page, 'label', 'note')).toEqual([[hostile, 'NULL']]);

    // the address has it all
    await page.reload();
    await page.getByText('Rows 1 to 1 of 1').waitFor();
    await page.getByRole('button', { name: /Remove the filter/ }).click();
    await page.getByText(`Rows 1 to 50 of ${entries}`).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText(`Rows 51 to 100 of ${entries}`).waitFor();

    await page.getByLabel('Filter by').selectOption('count');
    await page.getByLabel('Condition').selectOption('>=');
    await page.getByLabel('Value', { exact: true }).fill('100');
    await page.keyboard.press('Enter');
    await page.getByText('Rows 1 to 31 of 31').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('copies and saves the shown rows as CSV', async () => {
    const { page, close } = await open();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await goTo(page, addressOf('metadb', { filter: JSON.stringify([['count', '=', '3']]) }));
    await page.getByRole('button', { name: 'Copy as CSV' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`"${hostile.replaceAll('"', '""')}",3,3.5000,\r\n`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('entry.csv');
    await close();
  });

  it('shows all values of a row, and columns with XPaths and sample values, as text', async () => {
    const { page, complaints, close } = await open();
    await goTo(page, addressOf('metadb'));
    await page.getByRole('button', { name: 'Show row 4', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Row 4' });
    await dialog.getByText(hostile).waitFor();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Columns', exact: true }).click();
    const row = page.getByRole('row', { name: /^amount/ });
    await row.waitFor();
    expect(await row.textContent()).toMatch(/numeric\(20,4\).*\/ledger\/entry\/amount.*0\.5000/);
    expect(await page.locator('main img').count()).toBe(0);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each(kinds)('%s: completes names, runs a statement, and remembers it in the tab alone', async (kind) => {
    const { page, complaints, close } = await open();
    await goTo(page, addressOf(kind, { part: 'sql' }));
    const editor = page.getByRole('textbox', { name: 'SQL' });
    await editor.waitFor();
    await page.keyboard.press('Tab');
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('select count(*) as found from ent');
    await complete(page, 'entry');
    await page.keyboard.type(' where entry.labe');
    await complete(page, 'label');
    await page.keyboard.type(` like 'label 1%'`);
    await page.keyboard.press('ControlOrMeta+Enter');
    await page
      .locator('main')
      .getByText(/^1 row in /)
      .waitFor();
    expect(await columnsOf(page, 'found')).toEqual([['41']]);

    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('select wrong from entry');
    await page.keyboard.press('Escape');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.getByRole('alert').getByText(/wrong/).waitFor();
    await page.getByText('History (2)').click();
    await page.getByRole('button', { name: /^select count/ }).click();
    expect(await editor.textContent()).toMatch(/where entry\.(?:label|"label") like 'label 1%'/);
    expect(await page.evaluate(() => [localStorage.length, sessionStorage.length, location.href])).toEqual([
      0,
      1,
      expect.not.stringContaining('count'),
    ]);
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
    await close();
  });

  it('shows side tables, whose columns no schema has, and the SQL box to a key for rows alone', async () => {
    const { page, complaints, close } = await open();
    await goTo(page, addressOf('sqlite'));
    await page.getByRole('link', { name: '_loads', exact: true }).click();
    await page.getByText('Rows 1 to 1 of 1').waitFor();
    await page.getByLabel('Filter by').selectOption('documents');
    await page.getByLabel('Value', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Add filter' }).click();
    await page.getByText('No row matches.').waitFor();
    expect(complaints).toEqual([]);
    await close();

    const { body } = await service.client.post<{ key: string }>('/v2/admin/keys', {
      name: 'analyst',
      scopes: ['rows:read'],
    });
    const analyst = await openPage(browser, url, { width: 1280, height: 900 }, body.key);
    await goTo(analyst.page, addressOf('metadb', { part: 'sql' }));
    await analyst.page.getByText('jobs:read').first().waitFor();
    await analyst.page.getByRole('button', { name: 'Run' }).click();
    await analyst.page
      .locator('main')
      .getByText(/^100 rows in /)
      .waitFor();
    await analyst.close();
  });

  it('lists the targets, and says what a target that is gone lacks', async () => {
    const { page, close } = await open();
    await goTo(page, '#/rows');
    const shown = await page.locator('td[data-label="Target"]').allTextContents();
    expect(shown.toSorted()).toEqual(kinds.map(targetOf).toSorted());
    await goTo(page, '#/rows?target=metadb%3Anobody');
    await page.getByText('No tables are known').waitFor();
    await goTo(page, '#/rows?target=postgresql%3A%2F%2Fhost%2Fdb');
    await page.getByText('The service does not read this target').waitFor();
    await close();
  });

  it.each([
    ['light', 1280],
    ['dark', 375],
  ] as const)('has no barrier and does not scroll sideways: %s, %i', async (colorScheme, width) => {
    const { page, complaints, close } = await open(width, colorScheme);
    for (const view of [
      '#/rows',
      addressOf('metadb', { sort: 'count', filter: JSON.stringify([['label', 'contains', 'a']]) }),
      addressOf('metadb', { filter: JSON.stringify([['label', '=', 'nothing']]) }),
      addressOf('metadb', { part: 'columns' }),
      addressOf('metadb', { part: 'sql' }),
      '#/jobs',
    ]) {
      await goTo(page, view);
      if (view.includes('part=sql')) {
        await page.getByRole('textbox', { name: 'SQL' }).click();
        await page.keyboard.press('ControlOrMeta+Enter');
        await page
          .locator('main')
          .getByText(/^100 rows in /)
          .waitFor();
        await page.getByText('History').click();
      }
      expect([view, await barriers(page, width > 500 ? allRules : colours)]).toEqual([view, []]);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      // the scroll bar of a desktop takes some of the width
      expect([view, wide <= width]).toEqual([view, true]);
    }
    expect(complaints).toEqual([]);
    await close();
  });
});

/** Accepts a completion, which does not take the Enter key in its first moments. */
async function complete(page: Page, name: string): Promise<void> {
  const option = page.getByRole('option', { name: new RegExp(`^${name}`) }).first();
  await option.and(page.locator('[aria-selected="true"]')).waitFor();
  await page.waitForTimeout(200);
  await page.keyboard.press('Enter');
  await option.waitFor({ state: 'hidden' });
}

/** Texts of cells, by columns of the shown grid. */
async function columnsOf(page: Page, ...names: readonly string[]): Promise<(string | undefined)[][]> {
  return await page.locator('.values table').evaluate((grid, wanted) => {
    const heads = [...grid.querySelectorAll('thead th')].map((head) =>
      head.firstElementChild?.matches('button') === true
        ? head.firstElementChild.firstChild?.textContent
        : head.firstChild?.textContent,
    );
    return [...grid.querySelectorAll('tbody tr')].map((row) =>
      wanted.map((name) => row.children[heads.indexOf(name)]?.textContent ?? undefined),
    );
  }, names);
}
