/** Builds the site from docs/README.md and all that it links to, directly or not. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { extname, join, posix } from 'node:path';
import * as esbuild from 'esbuild';
import { escapeHtml } from '../../src/http/problem.ts';
import { hashedName } from '../../src/http/validators.ts';
import { addressOf, referenceTo, type PageKind } from './addresses.ts';
import type { SearchEntry } from './client/search-index.ts';
import { codeHtml, renderMarkdown, type RenderedText } from './markdown.ts';
import { readNavigation } from './navigation.ts';
import { pageHtml } from './template.ts';

interface SitePage {
  readonly path: string;
  readonly address: string;
  readonly text: RenderedText;
}

interface BuiltSite {
  readonly pages: number;
  readonly files: number;
  readonly bytes: number;
}

const start = 'docs/README.md';
const images = /\.(?:png|svg)$/;
const languages: Readonly<Record<string, string>> = {
  '.ts': 'typescript',
  '.py': 'python',
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.toml': 'ini',
  '.service': 'ini',
};

/** `root`: a folder with docs/README.md, of the checkout or the package. Replaces the folder `out` once the site is complete. */
export async function buildSite(root: string, out: string): Promise<BuiltSite> {
  const draft = `${out}.${process.pid}`;
  let files = 0;
  let bytes = 0;
  const write = (address: string, content: string | Uint8Array): void => {
    const file = join(draft, address);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(file, content);
    files += 1;
    bytes += Buffer.byteLength(content);
  };
  const writeHashed = (address: string, content: string | Uint8Array): string => {
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 16);
    const hashed = hashedName(address, digest);
    write(hashed, content);
    return hashed;
  };

  rmSync(draft, { recursive: true, force: true });
  try {
    const pages = readPages(root, writeHashed);
    const navigation = readNavigation(readFileSync(join(root, start), 'utf8'));
    const siteFiles = {
      style: writeHashed('site.css', await bundle('style.css')),
      script: writeHashed('site.js', await bundle('client/main.ts')),
      icon: writeHashed('icon.svg', readFileSync(join(import.meta.dirname, '../../src/ui/icon.svg'))),
      search: writeHashed('search.json', JSON.stringify(searchEntries(pages))),
    };
    for (const { address, text } of pages) write(address, pageHtml(address, text, navigation, siteFiles));
    rmSync(out, { recursive: true, force: true });
    renameSync(draft, out);
    return { pages: pages.length, files, bytes };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Reads the first page, and each page or file that a page links to. */
function readPages(root: string, writeHashed: (address: string, content: Uint8Array) => string): SitePage[] {
  const paths = new Set<string>([start]);
  const copied = new Map<string, string>();
  /** Returns the address of a file or folder of the project; null if there is none, as in the package. */
  const include = (path: string): string | null => {
    if (!existsSync(join(root, path))) return null;
    if (images.test(path)) {
      if (!copied.has(path))
        copied.set(path, writeHashed(path.replace(/^docs\//, ''), readFileSync(join(root, path))));
      return copied.get(path)!;
    }
    const readme = `${path}/README.md`;
    const target = existsSync(join(root, readme)) ? readme : path;
    paths.add(target);
    return addressOf(target, kindOf(root, target));
  };
  const pages: SitePage[] = [];
  for (const path of paths) {
    const kind = kindOf(root, path);
    const address = addressOf(path, kind);
    const text = renderPage(root, path, kind, (href) => {
      const [, target = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href)!;
      if (target === '') return anchor;
      const found = include(posix.join(posix.dirname(path), target).replace(/\/$/, ''));
      return found === null ? null : referenceTo(address, found, anchor);
    });
    pages.push({ path, address, text });
  }
  return pages;
}

function kindOf(root: string, path: string): PageKind {
  if (statSync(join(root, path)).isDirectory()) return 'folder';
  return path.endsWith('.md') ? 'markdown' : 'source';
}

function renderPage(
  root: string,
  path: string,
  kind: PageKind,
  resolve: (href: string) => string | null,
): RenderedText {
  const file = join(root, path);
  if (kind === 'markdown') return renderMarkdown(readFileSync(file, 'utf8'), resolve);
  const html =
    kind === 'source'
      ? codeHtml(readFileSync(file, 'utf8').trimEnd(), languages[extname(path)] ?? '')
      : filesHtml(file, (name) => resolve(posix.join(posix.basename(path), name)));
  return {
    title: path,
    html: `<h1>${escapeHtml(path)}</h1>\n${html}`,
    sections: [],
    headings: [],
  };
}

function filesHtml(folder: string, resolve: (name: string) => string | null): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    // files that begin with a dot are not part of the project
    .filter((name) => !/(?:^|\/)\./.test(name) && statSync(join(folder, name)).isFile())
    .toSorted();
  const items = names.map(
    (name) => `<li><a href="${escapeHtml(resolve(name) ?? '')}"><code>${escapeHtml(name)}</code></a></li>\n`,
  );
  return `<ul>\n${items.join('')}</ul>\n`;
}

/** The sections of the pages for users: neither the decisions nor files outside `docs`. */
function searchEntries(pages: readonly SitePage[]): SearchEntry[] {
  return pages
    .filter(({ path }) => path !== start && /^docs\/(?!decisions\/)/.test(path))
    .flatMap(({ address, text: { title, sections } }) =>
      sections.map(({ anchor, heading, text }) => ({
        address: anchor === '' ? address : `${address}#${anchor}`,
        title,
        heading: heading === title ? '' : heading,
        text,
      })),
    );
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2023',
    legalComments: 'inline',
    logLevel: 'warning',
    write: false,
  });
  return outputFiles[0]!.text;
}
