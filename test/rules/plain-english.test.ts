/** Comments say what a thing is or does, subject first: a clause without a noun before it has to be read twice. */
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './project-files.ts';

/** Comments of `src` that open with such a clause. The number only goes down: lower it with each one that is written anew. */
const openingsLeft = 1;
/** The same for turns of phrase that ordinary technical English does not have. */
const phrasesLeft = 6;

const headless = /^(?:what|which|who|whose|whom|where|wherever|whatever|whoever|as|those|that|of)\b/i;
const odd =
  /\b(?:but for|by now|is had|are had|can be had|is told|is met|is brought|whoever|stands for|in the place of|by themselves)\b/i;

interface Comment {
  readonly where: string;
  readonly text: string;
}

/** Blocks between `/**` and its end, and runs of lines that begin with `//`. */
function commentsOf(path: string): Comment[] {
  const source = readText(path);
  const found = source.matchAll(/\/\*\*([\s\S]*?)\*\/|^[ \t]*\/\/(.*(?:\n[ \t]*\/\/.*)*)/gm);
  return [...found].flatMap(({ 1: block, 2: lines, index }) => {
    const text = (block ?? lines ?? '')
      .replaceAll(/\n\s*(?:\*|\/\/) ?/g, ' ')
      .replaceAll(/^[\s*]+|\s+$/g, '');
    return text === '' ? [] : [{ where: `${path}:${source.slice(0, index).split('\n').length}`, text }];
  });
}

const shown = (matching: readonly Comment[]): string =>
  matching
    .slice(0, 20)
    .map(({ where, text }) => `${where} ${text.slice(0, 80)}`)
    .join('\n');

describe('comments', () => {
  const comments = listFiles()
    .filter((path) => /^src\/.*\.ts$/.test(path))
    .flatMap(commentsOf);
  it('open with a subject', () => {
    const offenders = comments.filter(({ text }) => headless.test(text));
    expect(offenders.length, shown(offenders)).toBeLessThanOrEqual(openingsLeft);
  });

  it('are in ordinary words', () => {
    const offenders = comments.filter(({ text }) => odd.test(text));
    expect(offenders.length, shown(offenders)).toBeLessThanOrEqual(phrasesLeft);
  });
});
