/** The page in a real browser that can reach nothing but the service; what the browser complains of is kept. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium, type Browser, type Page } from 'playwright-core';
import { programOf } from '../../support/needs.ts';

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

export async function openBrowser(): Promise<Browser> {
  return await chromium.launch({ executablePath: programOf('chromium') ?? '', args: quiet });
}

export interface Screen {
  readonly width: number;
  readonly height: number;
  readonly colorScheme?: 'light' | 'dark';
}

export interface OpenPage {
  readonly page: Page;
  /** errors and warnings of the console (broken policies are among them), faults of scripts, requests to others */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** `url` ends in `/`; with a key the page has it from the start. */
export async function openPage(
  browser: Browser,
  url: string,
  { width, height, colorScheme = 'light' }: Screen,
  key?: string,
): Promise<OpenPage> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    isMobile: width < 500,
    hasTouch: width < 500,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(?:blob|about):/.test(request.url()))
      complaints.push(request.url());
  });
  if (key !== undefined)
    await context.addInitScript(
      ([slot, value]) => sessionStorage.setItem(slot!, value!),
      [`conversion-job-service key ${new URL(url).pathname}`, key],
    );
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const allRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** all that another colour scheme changes */
export const colours = ['color-contrast'];

/** What axe-core finds wrong in the page as it is: rule and elements. The debugger runs it, as the page's policy runs no such text. */
export async function barriers(page: Page, rules: readonly string[] = allRules): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const run = `${axe}; axe.run(document, { runOnly: ${JSON.stringify(rules)} })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary.slice(0, 300))))`;
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined)
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value as string[];
}

/** Goes to a view and waits until nothing is loaded any more. */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, address);
  await page.locator('main h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('main .waiting') === null);
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  );
}
