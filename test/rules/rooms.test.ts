/** Rooms one finds one's way in: few files each, named for what they hold, and no word in a comment that leads nowhere. */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './project-files.ts';

const mostFiles = 16;
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

describe('a path that a comment names', () => {
  it('is there, from the root of the project', () => {
    const there = new Set(listFiles());
    const dead = sources
      .filter((path) => path !== 'test/rules/imports.test.ts')
      .flatMap((path) =>
        readText(path)
          .split('\n')
          .flatMap((line, index) => {
            const comment = /^\s*(?:\/\*\*|\*|\/\/)(.*)$|\s\/\/ (.*)$|\/\*\* (.*)$/.exec(line);
            const text = comment === null ? '' : (comment[1] ?? comment[2] ?? comment[3] ?? '');
            return [...text.matchAll(/(?<![\w/.*$}-])(?:[\w.-]+\/)*[\w-]+(?:\.test)?\.(?:ts|as|mjs)\b/g)]
              .map(([name]) => name)
              .filter((name) => !there.has(name) && !name.startsWith('node_modules/'))
              .map((name) => `${path}:${index + 1}: ${name}`);
          }),
      );
    expect(dead).toEqual([]);
  });
});
