/** How source files begin, what they may not hold, and that no machine is named in them. */
import { describe, expect, it } from 'vitest';
import { listFiles, readText } from './project-files.ts';

const sources = listFiles().filter((path) => /\.(ts|mjs|as|css)$/.test(path));

describe('a source file', () => {
  it('opens with a line that says what is in it', () => {
    const silent = listFiles()
      .filter((path) => /\.(?:ts|mjs|as)$/.test(path))
      .filter((path) => !/^(?:#!.*\n)?\/(?:\/ |\*\* |\*\*\n \* )\S/.test(readText(path)));
    expect(silent).toEqual([]);
  });

  it('says why where it lets a failure pass without a word', () => {
    const wordless = sources
      .filter((path) => path.startsWith('src/'))
      .flatMap((path) => {
        const lines = readText(path).split('\n');
        return lines.flatMap((line, at) =>
          /\.catch\(\(\) => (?:undefined|\{\})\)/.test(line) &&
          !lines.slice(Math.max(0, at - 3), at + 1).some((near) => near.includes('//'))
            ? [`${path}:${at + 1}`]
            : [],
        );
      });
    expect(wordless).toEqual([]);
  });

  it('exports no type under a name that another one exports', () => {
    const names = sources
      .filter((path) => path.startsWith('src/'))
      .flatMap((path) =>
        [...readText(path).matchAll(/^export (?:interface|type|class) (\w+)/gm)].map(([, name]) => name!),
      );
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
  });

  it('casts nothing away', () => {
    const cast = sources.filter((path) => path.startsWith('src/') && /\bas never\b/.test(readText(path)));
    expect(cast).toEqual([]);
  });
});

describe('committed text', () => {
  const binary = /\.(gz|zip|tgz|tar|png|wasm|xlsx|parquet)$/;

  // Written so that this file passes its own rule.
  const forbidden: Readonly<Record<string, RegExp>> = {
    'a path of one machine': new RegExp(`(^|[\\s'"\`(=])/(?:${['work', 'root', 'Users'].join('|')})/[\\w.-]`),
    'a personal home folder': new RegExp(`/${'home'}/(?!user\\b|svc\\b|runner\\b)[a-z][\\w-]*/`),
    'a registry host': new RegExp(
      `${['registry', '.'].join('\\')}(?:npmjs|yarnpkg|npmmirror)|"resolved": "https?:`,
    ),
    'an unfinished mark': /\b(?:TO[D]O|FIX[M]E|XX[X])\b/,
  };

  it.each(Object.entries(forbidden))('does not hold %s', (_name, pattern) => {
    const offenders = listFiles()
      .filter((path) => !binary.test(path))
      .flatMap((path) =>
        readText(path)
          .split('\n')
          .flatMap((line, index) =>
            pattern.test(line) ? [`${path}:${index + 1} ${line.trim().slice(0, 80)}`] : [],
          ),
      );
    expect(offenders).toEqual([]);
  });
});

describe('tests that need what not every machine has', () => {
  it('say so by test/support/needs.ts, so that the run tells what was skipped, and why', () => {
    const offenders = sources
      .filter((path) => path.startsWith('test/') && path !== 'test/rules/files.test.ts')
      .filter((path) => path !== 'test/support/needs.ts')
      .filter((path) => /\.(?:skip|skipIf|runIf|todo)\(|console\.warn\(|'\/usr\//.test(readText(path)));
    expect(offenders).toEqual([]);
  });
});
