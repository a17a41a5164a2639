/** Modules as functions: the same results, each character of code in its line and column. */
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { rewrite } from '../../../../src/tools/bin/modules/rewrite.mjs';

type Made = (
  imports: readonly unknown[],
  meta: unknown,
  bring: (specifier: string) => unknown,
) => Generator<object, object>;

function evaluated(source: string, ...imports: readonly unknown[]): unknown {
  const made = new Script(rewrite(source)!.code).runInThisContext() as Made;
  const turns = made(imports, { url: 'file:///here.ts' }, (specifier) => `brought ${specifier}`);
  turns.next();
  return turns.next().value;
}

describe('a module as a function', () => {
  it.each<[string, string, unknown, unknown[]]>([
    ['constants', 'export const a = 1;\nexport const b = a + 1;', { a: 1, b: 2 }, []],
    [
      'classes',
      'export class A { static b = 1 }\nexport default A.b;',
      { A: expect.any(Function), default: 1 },
      [],
    ],
    ['lists', 'const a = 1, b = 2;\nexport { a, b as c };', { a: 1, c: 2 }, []],
    [
      'imports',
      `import { a as b, c } from './x.ts';\nexport const d = [b, c];`,
      { d: [1, 2] },
      [{ a: 1, c: 2 }],
    ],
    [
      'initial ones',
      `import a, { b } from './x.ts';\nexport const c = [a, b];`,
      { c: [1, 2] },
      [{ default: 1, b: 2 }],
    ],
    ['all', `import * as a from './x.ts';\nexport const b = a.c;`, { b: 3 }, [{ c: 3 }]],
    ['what is passed on', `export { a as b } from './x.ts';`, { b: 1 }, [{ a: 1 }]],
    ['nothing', `import './x.ts';\nexport {};`, {}, [{}]],
    [
      'its place',
      `export const a = [import.meta.url, import('./y.ts')];`,
      { a: ['file:///here.ts', 'brought ./y.ts'] },
      [],
    ],
  ])('has %s', (_what, source, exported, imports) => {
    expect(evaluated(source, ...imports)).toEqual(exported);
  });

  it.each([
    ['a template', 'export const a = `\nexport const b = ${`}` + 1};\nimport x from "y";`;'],
    ['a comment', '/*\nexport const b = 1;\n*/\n// import x from "y";\nexport const a = 1;'],
    ['a string', `export const a = 'import("x") // \\' export const b';`],
    ['a regular expression', 'export const a = [/[/`]\'"/.test("`"), 4 / 2 / 1];'],
    ['a member', 'const c = { import: 1, export: 2 };\nexport const a = c.import + c.export;'],
  ])('takes no import or export from %s', (_what, source) => {
    expect(Object.keys(evaluated(source) as object)).toEqual(['a']);
    expect(rewrite(source)!.imports).toEqual([]);
  });

  it.each([
    'export let a = 1;',
    'export const a = 1, b = 2;',
    'export const { a } = c;',
    `export * from './x.ts';`,
    'export default class {}',
    'export const a = import.meta.resolve("x");',
    'export const a = (1;',
  ])('leaves %s', (source) => {
    expect(rewrite(source)).toBeNull();
  });

  it('has everything where it was', () => {
    const source = `import {\n  a,\n  b as c,\n} from './x.ts'; // what\nexport async function f() {  /* here */ g(import.meta.url); }\nexport { c };\nlast();`;
    const { code } = rewrite(source)!;
    for (const word of ['f()', 'g(', 'last()', 'c,\n'])
      expect(positionOf(code.replace(/^.*?yield \{.*?\};/, ''), word)).toBe(positionOf(source, word));
  });
});

/** Line and column. */
function positionOf(text: string, word: string): string {
  const lines = text.slice(0, text.indexOf(word)).split('\n');
  return `${lines.length}:${lines.at(-1)!.length}`;
}
