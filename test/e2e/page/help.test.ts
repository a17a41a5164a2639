/** The documentation as a site: its links, its search, and how a browser shows it below a prefix, with nothing but the service to reach. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSite } from '../../../scripts/site/build.ts';
import { createSearch, type SearchEntry } from '../../../scripts/site/client/search-index.ts';
import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/properties.ts';
import { createHelpStore } from '../../../src/runtime/help-store.ts';
import { createMemoryAdapters } from '../../support/memory/adapters.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';
import { barriers, colours, openBrowser, openPage } from './chromium.ts';

const root = join(import.meta.dirname, '../../..');
const desk = { width: 1280, height: 900 };
const phone = { width: 375, height: 812 };
const trial = useTrial();
const samples = [
  'index.html',
  'tutorial/your-own-file.html',
  'how-to/page.html',
  'reference/options.html',
  'reference/types.html',
  'explanation/performance.html',
  'decisions/index.html',
  'project/src/index.html',
  'project/examples/monitoring/index.html',
  'project/examples/own-target.ts.html',
];
let site: string;
const texts = new Map<string, string>();

beforeAll(async () => {
  site = join(await trial.folder('help-'), 'help');
  await buildSite(root, site);
  const names = await readdir(site, { recursive: true });
  for (const name of names.filter((one) => /\.\w+$/.test(one) && !one.endsWith('.service')))
    texts.set(name, await readFile(join(site, name), 'utf8').catch(() => ''));
});

const pages = (): (readonly [name: string, html: string])[] =>
  [...texts].filter(([name]) => name.endsWith('.html'));

describe('the site', () => {
  it('has a page for each text of docs, and each is linked', async () => {
    const sources = (await readdir(join(root, 'docs'), { recursive: true })).filter((name) =>
      name.endsWith('.md'),
    );
    const expected = sources.map((name) => name.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html'));
    expect(expected.length).toBeGreaterThan(60);
    expect(expected.filter((name) => !texts.has(name))).toEqual([]);
  });

  it('has no link that leads nowhere, and none that needs another host', () => {
    const ids = new Map(
      pages().map(([name, html]) => [
        name,
        new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)),
      ]),
    );
    const broken: string[] = [];
    let links = 0;
    for (const [name, html] of pages()) {
      for (const [, kind, reference] of html.matchAll(/ (href|src)="([^"]*)"/g)) {
        if (/^\w+:/.test(reference!)) {
          if (kind === 'src') broken.push(`${name}: ${reference}`);
          continue;
        }
        links += 1;
        const target = new URL(reference!.replaceAll('&amp;', '&'), `http://site/${name}`);
        const path = target.pathname.slice(1);
        const anchor = decodeURIComponent(target.hash.slice(1));
        const found = reference !== '' && texts.has(path) && (anchor === '' || ids.get(path)?.has(anchor));
        if (!found) broken.push(`${name}: ${reference}`);
      }
      if (/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/.test(html))
        broken.push(`${name}: inline script or style`);
    }
    expect(links).toBeGreaterThan(5000);
    expect(broken).toEqual([]);
  });

  it('leads through all pages of the navigation, one after another', () => {
    const seen = ['index.html'];
    for (const name of seen) {
      const [, next] = /rel="next" href="([^"]+)"/.exec(texts.get(name)!) ?? [];
      if (next !== undefined) seen.push(new URL(next, `http://site/${name}`).pathname.slice(1));
    }
    const listed = [
      ...texts
        .get('index.html')!
        .split('</nav>')[0]!
        .matchAll(/<li><a href="([^"]+)"/g),
    ];
    expect(seen.slice(1)).toEqual(listed.map(([, reference]) => reference));
    expect(seen.length).toBeGreaterThan(60);
  });

  it.each([
    ['svc.files.roots', /^reference\/properties\.html/],
    ['exactly once', /^explanation\/exactly-once\.html$/],
    ['skip-loaded', /^reference\/summary\.html|#load-again$/],
    ['too_many_requests', /^reference\/error-codes\.html#too_many_requests$/],
    ['partiton', /^how-to\/delta\.html#partitions$/],
  ])('is searched for %s', (words, expected) => {
    const [name] = [...texts.keys()].filter((one) => /^search\.\w+\.json$/.test(one));
    const search = createSearch(JSON.parse(texts.get(name!)!) as SearchEntry[]);
    const found = search(words).map(({ address }) => address);
    expect(found.slice(0, 4)).toContainEqual(expect.stringMatching(expected));
  });
});

describe('the site in a browser', { timeout: 120_000, ...needs('chromium') }, () => {
  let server: Server;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    const adapters = { ...createMemoryAdapters(), help: createHelpStore(pathToFileURL(`${site}/`)) };
    const host = new Hono().route('/of/acme', createApp(adapters, readConfig({})));
    const { port } = await new Promise<AddressInfo>((resolve) => {
      server = serve({ fetch: host.fetch, hostname: '127.0.0.1', port: 0 }, resolve) as Server;
    });
    url = `http://127.0.0.1:${port}/of/acme/help/`;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  it.each(['light', 'dark'] as const)('has no barrier, and breaks no policy: %s', async (colorScheme) => {
    const { page, complaints, close } = await openPage(browser, url, { ...desk, colorScheme });
    const found: string[] = [];
    // the rules that colours do not change are the same in both
    for (const name of colorScheme === 'light' ? samples : samples.filter((_, at) => at % 3 === 0)) {
      await page.goto(url + name);
      const lines = await barriers(page, colorScheme === 'light' ? undefined : colours);
      found.push(...lines.map((line) => `${name} ${line}`));
    }
    expect(found).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('fits a phone, without scrolling sideways', async () => {
    const { page, complaints, close } = await openPage(browser, url, phone);
    const wide: string[] = [];
    const ofDocs = pages().flatMap(([name]) => (/^(?:decisions|project)\//.test(name) ? [] : [name]));
    for (const name of new Set([...ofDocs, ...samples])) {
      await page.goto(url + name, { waitUntil: 'domcontentloaded' });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width !== phone.width) wide.push(`${name}: ${width}`);
    }
    expect(wide).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('is searched by keyboard, from any page', async () => {
    const { page, complaints, close } = await openPage(browser, `${url}how-to/page.html`, desk);
    await page.keyboard.press('/');
    await page.keyboard.type('too_many_requests');
    await page.locator('.results a').first().waitFor();
    expect(await page.locator('.status').textContent()).toMatch(/^\d+ results?$/);
    expect(await barriers(page)).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}reference/error-codes.html#too_many_requests`);
    await page.getByRole('searchbox').fill('no such word anywhere qqq');
    await page.getByText('No results').waitFor();
    await page.keyboard.press('Escape');
    expect(await page.locator('.status').textContent()).toBe('');
    // complaints count requests below the first page only
    expect(complaints.filter((line) => !line.startsWith(url))).toEqual([]);
    await close();
  });

  it('is one click from the page of the service', async () => {
    const { page, close } = await openPage(browser, new URL('../', url).href, desk);
    await page.getByRole('link', { name: 'Help', exact: true }).click();
    await page.waitForURL(`${url}index.html`);
    await close();
  });

  it('copies a block of code', async () => {
    const { page, close } = await openPage(browser, `${url}tutorial/your-own-file.html`, desk);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const block = page.locator('.code').first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(await block.locator('code').textContent());
    await close();
  });
});
