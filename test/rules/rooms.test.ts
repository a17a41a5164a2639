/** Files are named for what they hold, and comments refer only to what exists. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './project-files.ts';

const sources = listFiles().filter(
  (path) => /\.(?:ts|mjs|as)$/.test(path) && !/^test\/(?:fixtures|golden)\//.test(path) && path.includes('/'),
);
/** A file's name without its endings. */
const stem = (path: string): string => posix.basename(path).replace(/\..*$/, '');

describe('a room', () => {
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
