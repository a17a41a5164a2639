/** The HTML around the text of a page. It has no script and no style of its own, as the service's policy wants it. */
import { escapeHtml } from '../../src/http/problem.ts';
import { addressOf, referenceTo } from './addresses.ts';
import type { RenderedText } from './markdown.ts';
import type { NavigationEntry, NavigationGroup } from './navigation.ts';

/** Addresses of the files that every page uses. */
export interface SiteFiles {
  readonly style: string;
  readonly script: string;
  readonly icon: string;
  readonly search: string;
}

export function pageHtml(
  address: string,
  page: RenderedText,
  navigation: readonly NavigationGroup[],
  files: SiteFiles,
): string {
  const to = (target: string): string => escapeHtml(referenceTo(address, target));
  const title = address === 'index.html' ? '' : `${page.title} · `;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}Conversion Job Service: documentation</title>
<link rel="icon" type="image/svg+xml" href="${to(files.icon)}">
<link rel="stylesheet" href="${to(files.style)}">
<script defer src="${to(files.script)}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${to('index.html')}">Conversion Job Service</a>
<a class="contents" href="${to('index.html')}">Contents</a>
<search hidden data-index="${to(files.search)}" data-root="${to('index.html').replace(/index\.html$/, '')}">
<input type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off" spellcheck="false">
<p class="status" role="status"></p>
<ul class="results" aria-label="Results" hidden></ul>
</search>
</header>
<div class="columns">
<nav class="sidebar" aria-label="Pages">
${navigation.map((group) => groupHtml(group, address)).join('')}</nav>
<main id="content" tabindex="-1">
${page.html}${neighboursHtml(address, navigation)}</main>
${headingsHtml(page)}</div>
</body>
</html>
`;
}

function groupHtml({ title, entries }: NavigationGroup, address: string): string {
  const items = entries.map(({ label, path }) => {
    const target = addressOf(path, 'markdown');
    const current = target === address ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(referenceTo(address, target))}"${current}>${escapeHtml(label)}</a></li>\n`;
  });
  return `<p>${escapeHtml(title)}</p>\n<ul>\n${items.join('')}</ul>\n`;
}

/** Links to the pages before and after this one in the navigation. */
function neighboursHtml(address: string, navigation: readonly NavigationGroup[]): string {
  const entries: readonly NavigationEntry[] = [
    { label: 'Documentation', path: 'docs/README.md' },
    ...navigation.flatMap((group) => group.entries),
  ];
  const at = entries.findIndex(({ path }) => addressOf(path, 'markdown') === address);
  if (at < 0) return '';
  const link = (entry: NavigationEntry | undefined, rel: string, word: string): string =>
    entry === undefined
      ? ''
      : `<a rel="${rel}" href="${escapeHtml(referenceTo(address, addressOf(entry.path, 'markdown')))}"><small>${word}</small> ${escapeHtml(entry.label)}</a>\n`;
  return `<nav class="neighbours" aria-label="Previous and next page">\n${link(entries[at - 1], 'prev', 'Previous')}${link(entries[at + 1], 'next', 'Next')}</nav>\n`;
}

function headingsHtml({ headings }: RenderedText): string {
  const listed = headings.filter(({ level }) => level === 2);
  if (listed.length < 2) return '';
  const items = listed.map(
    ({ anchor, text }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(text)}</a></li>\n`,
  );
  return `<nav class="headings" aria-label="On this page">\n<p>On this page</p>\n<ul>\n${items.join('')}</ul>\n</nav>\n`;
}
