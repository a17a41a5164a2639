/** Names in pages and addresses in modules: files, npm scripts and other pages that exist. */
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partNames } from '../support/needs.ts';
import { listFiles, projectRoot, readText } from './project-files.ts';

const pages = listFiles().filter((path) => path.endsWith('.md') && !path.startsWith('test/fixtures/'));
const { scripts } = JSON.parse(readText('package.json')) as { scripts: Readonly<Record<string, string>> };
/** Rooms that words in backticks may lead to; paths below other folders are examples of users' own. */
const rooms = /^(?:src|test|scripts|docs|examples|\.ci)\/[\w./-]*$/;

/** `name` as GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  const words = heading.replaceAll(/[`*]|\[|\]\([^)]*\)/g, '').toLowerCase();
  return words.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
}

function anchorsOf(page: string): string[] {
  return [...readText(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading!));
}

describe('pages', () => {
  it.each(pages)('%s: links lead somewhere', (page) => {
    const links = [...readText(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)];
    const broken = links.filter(([, path, anchor]) => {
      const target = path === '' ? page : posix.join(posix.dirname(page), path!);
      if (!existsSync(projectRoot + target)) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  it('are reached from the README', () => {
    const reached = new Set<string>(['README.md']);
    for (const page of reached)
      for (const [, path] of readText(page).matchAll(/\]\((?!\w+:)([^)#\s]+)/g)) {
        const target = posix.join(posix.dirname(page), path!);
        if (pages.includes(target)) reached.add(target);
        if (pages.includes(`${target}/README.md`)) reached.add(`${target}/README.md`);
      }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });

  // The changelog names what was there at its time.
  it.each(pages.filter((page) => page !== 'CHANGELOG.md'))('%s: npm scripts and paths exist', (page) => {
    const text = readText(page);
    const named = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name!);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    const code = [...text.matchAll(/^```[^]*?^```$|`[^`]+`/gm)].map(([one]) => one.replaceAll('`', ''));
    const paths = code
      .flatMap((one) => one.split(/\s+/))
      .map((path) => path.replace(/[:#,;].*$/, ''))
      .filter((path) => rooms.test(path));
    expect(paths.filter((path) => !existsSync(projectRoot + path))).toEqual([]);
  });
});

describe('modules', () => {
  it('address files beside them that exist', () => {
    const modules = listFiles().filter((path) => /^(?:src|test|scripts|bin)\/.*\.(?:ts|mjs)$/.test(path));
    const broken = modules.flatMap((path) =>
      [...readText(path).matchAll(/new URL\(\s*'([\w.][^']*)',\s*import\.meta\.url/g)]
        .map(([, address]) => posix.join(posix.dirname(path), address!))
        .filter((target) => !target.startsWith('dist') && !existsSync(projectRoot + target))
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });
});

describe('CONTRIBUTING.md', () => {
  it('names every part that tests are skipped without', () => {
    const text = readText('CONTRIBUTING.md');
    expect(partNames.filter((part) => !text.includes(`\`${part}\``))).toEqual([]);
  });
});

describe('README.md', () => {
  it('is a door, not the house: at most 250 lines', () => {
    expect(readText('README.md').split('\n').length - 1).toBeLessThanOrEqual(250);
  });
});
