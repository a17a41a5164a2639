/**
 * `npm run docs:pictures`: draws the pictures of docs/pictures anew, from the page of a service that has loaded the orders of
 * scripts/demo. It needs Chromium; `CHROMIUM` names another program than `chromium`.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { createApiClient } from './demo/api-client.ts';
import { archiveFolder } from './demo/archive.ts';
import { startService } from './demo/service-process.ts';
import { scriptOptions } from './options.ts';

interface Picture {
  readonly file: string;
  /** the fragment of the page's address */
  readonly view: string;
  readonly height: number;
}

scriptOptions(import.meta.filename, {});
const folder = join(import.meta.dirname, '../docs/pictures');
const width = 1200;

const home = await mkdtemp(join(tmpdir(), 'pictures-'));
const service = await startService(home, 0, { SVC_CMD_ENABLED: 'true' });
try {
  const job = await loadOrders();
  const pictures: readonly Picture[] = [
    { file: 'page.png', view: `#/jobs/${job}`, height: 760 },
    { file: 'rows.png', view: '#/rows?target=metadb:orders&table=line', height: 620 },
    { file: 'diagram.png', view: '#/schemas/1/diagram', height: 760 },
  ];
  await mkdir(folder, { recursive: true });
  await draw(pictures);
} finally {
  await service.stop();
  await rm(home, { recursive: true, force: true });
}

/** Loads the orders; returns the id of the job that loaded them. */
async function loadOrders(): Promise<number> {
  const api = createApiClient(service.baseUrl, service.key);
  const xsd = await archiveFolder(new URL('demo/xsd/', import.meta.url));
  const xml = await archiveFolder(new URL('demo/documents/', import.meta.url));
  const xsdPath = await api.upload('xsd', 'orders-xsd.tgz', xsd.bytes);
  const xmlPath = await api.upload('xml', 'orders-xml.tgz', xml.bytes);
  const { jobs } = await api.run('orders', [
    {
      app_name: 'xsd2er',
      source: { file: { command: xsdPath } },
      target: { generation: [{ command: '--name', enabled: true, value: 'orders' }] },
    },
    {
      app_name: 'xml2er',
      source: { file: { command: xmlPath }, origin_id: { command: '-x', enabled: true, value: '$0' } },
      target: { path: { command: '-o', enabled: true, value: 'metadb:orders' } },
    },
  ]);
  const last = jobs.at(-1)!;
  for await (const _ of api.followLog(last));
  return last;
}

async function draw(pictures: readonly Picture[]): Promise<void> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? 'chromium',
    args: ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
  try {
    for (const { file, view, height } of pictures) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: 'light' });
      await context.addInitScript(
        (key) => sessionStorage.setItem('conversion-job-service key /', key),
        service.key,
      );
      const page = await context.newPage();
      await page.goto(`${service.baseUrl}/${view}`);
      await page.locator('main h1').first().waitFor();
      await page.waitForFunction(() => document.querySelector('main .waiting') === null);
      await page.screenshot({ path: join(folder, file) });
      await context.close();
    }
  } finally {
    await browser.close();
  }
}
