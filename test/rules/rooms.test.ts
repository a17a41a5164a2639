/** Rooms one finds one's way in: few files each, named for what they hold, and no word in a comment that leads nowhere. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './project-files.ts';

const mostFiles = 20;
const mostMedian = 6;

const sources = listFiles().filter(
  (path) => /\.(?:ts|mjs|as)$/.test(path) && !/^test\/(?:fixtures|golden)\//.test(path) && path.includes('/'),
);
const rooms = Map.groupBy(sources, (path) => posix.dirname(path));
/** A file's name without its endings. */
const stem = (path: string): string => posix.basename(path).replace(/\..*$/, '');

describe('a room', () => {
  it(`holds at most ${mostFiles} files`, () => {
    expect([...rooms].filter(([, files]) => files.length > mostFiles).map(([room]) => room)).toEqual([]);
  });

  it.each(['src', 'test'])(`holds ${mostMedian} in %s, where half of the rooms hold fewer`, (top) => {
    const sizes = [...rooms]
      .filter(([room]) => room.startsWith(`${top}/`))
      .map(([, files]) => files.filter((path) => top === 'src' || path.endsWith('.test.ts')).length)
      .filter((size) => size > 0)
      .toSorted((a, b) => a - b);
    expect(sizes.length).toBeGreaterThan(20);
    expect(sizes[Math.floor(sizes.length / 2)]).toBeLessThanOrEqual(mostMedian);
  });

  it('is no list of files that begin with the same word: those have a room of their own', () => {
    const families = [...rooms].flatMap(([room, files]) =>
      [...Map.groupBy(files.map(stem), (name) => name.split('-')[0]!)]
        .filter(([, names]) => new Set(names).size > 2)
        .map(([word]) => `${room}: ${word}-*`),
    );
    expect(families).toEqual([]);
  });

  it('does not say its name again in a file of it', () => {
    const repeated = sources.filter((path) => {
      const room = posix.basename(posix.dirname(path));
      return [room, room.replace(/s$/, '')].some(
        (word) => stem(path) === word || stem(path).startsWith(`${word}-`),
      );
    });
    expect(repeated).toEqual([]);
  });
});

/** Lines of a file that are comments or end in one, each with the comment's text. */
function commentLines(path: string): { readonly where: string; readonly text: string }[] {
  return readText(path)
    .split('\n')
    .flatMap((line, index) => {
      const comment = /^\s*(?:\/\*\*|\*|\/\/)(.*)$|\s\/\/ (.*)$|\/\*\* (.*)$/.exec(line);
      const text = comment?.[1] ?? comment?.[2] ?? comment?.[3];
      return text === undefined ? [] : [{ where: `${path}:${index + 1}`, text }];
    });
}

describe('what a comment refers to', () => {
  const comments = sources.filter((path) => path !== 'test/rules/imports.test.ts').flatMap(commentLines);

  it('is a file that is there, by its path from the root of the project', () => {
    const there = new Set(listFiles());
    const dead = comments.flatMap(({ where, text }) =>
      [...text.matchAll(/(?<![\w/.*$}-])(?:[\w.-]+\/)*[\w-]+(?:\.test)?\.(?:ts|as|mjs|md)\b/g)]
        .map(([name]) => name)
        .filter((name) => !there.has(name) && !name.startsWith('node_modules/'))
        .map((name) => `${where}: ${name}`),
    );
    expect(dead).toEqual([]);
  });

  it('is a clause of a standard or a manual that it names', () => {
    const named =
      /(?:\b(?:XML|XSD|Namespaces in XML) (?:1\.[01] )?(?:Part [12] )?|\bRFC \d+ |\bmanual |\b\d{4}, |[(,] )§\d|\(§\d/g;
    const unnamed = comments
      .filter(({ text }) => text.replaceAll(named, '').includes('§') || /\bdesign page\b/.test(text))
      .map(({ where, text }) => `${where}:${text}`);
    expect(unnamed).toEqual([]);
  });
});
