/** Patterns of paths. */
import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePathPattern, patternStart, patternStep } from '../../../../src/service/files/path-pattern.ts';

/** Whether a file at this path, relative to the pattern's folder, is what the pattern names. */
function matches(text: string, path: string): boolean {
  const pattern = parsePathPattern(text)!;
  let state = patternStart(pattern);
  const names = path.split('/');
  for (const [at, name] of names.entries()) {
    const isLast = at === names.length - 1;
    const step = patternStep(pattern, state, name, isLast ? 'file' : 'folder');
    if (isLast) return step.matches;
    state = step.below;
  }
  return false;
}

describe('a pattern', () => {
  it.each([
    ['*.xml', ['a.xml', 'ä b.xml'], ['a.xmlx', 'b/a.xml', '.a.xml']],
    ['or?er-[0-9][!a-c].xml', ['order-7d.xml', 'or🍩er-0-.xml'], ['orer-7d.xml', 'order-7b.xml']],
    ['[]a-]x', [']x', 'ax', '-x'], ['bx']],
    ['**/a?', ['a1', 'x/a1', 'x/y/z/ab'], ['x/a', '.x/a1']],
    ['**/2026/*/*.xml', ['2026/1/a.xml', 'q/2026/1/a.xml'], ['2026/a.xml', 'q/2026/1/2/a.xml']],
    ['*/**', ['a/b', 'a/b/c'], ['a']],
    ['.h*', ['.hidden'], ['h']],
    ['a**b', ['ab', 'axxb'], ['a/b']],
    ['[{]x[}][(]1)*', ['{x}(1).xml'], ['x1']],
  ])('%s', (pattern, those, others) => {
    expect(those.filter((path) => !matches(pattern, path))).toEqual([]);
    expect(others.filter((path) => matches(pattern, path))).toEqual([]);
  });

  it('names what the library of the platform names', () => {
    const name = fc.stringMatching(/^[abx]{1,6}$/);
    const piece = fc.constantFrom('a', 'b', 'x', '*', '?', '[ab]', '[!a]');
    const segment = fc.oneof(
      fc.constant('**'),
      fc.array(piece, { minLength: 1, maxLength: 6 }).map((all) => all.join('')),
    );
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
    const pattern = fc
      .array(segment, { minLength: 1, maxLength: 4 })
      .map((segments) => segments.join('/'))
      .filter((text) => /^[^/]*[*?[]/.test(text) && !/\*\*[^/]|[^/]\*\*|\*\*$/.test(text));
    fc.assert(
      fc.property(pattern, path, (text, file) => {
        expect(matches(text, file)).toBe(posix.matchesGlob(file, text));
      }),
      { numRuns: 3000 },
    );
  });

  it('is told from a path, and begins where its wildcards do', () => {
    expect(parsePathPattern('plain/order (1).xml')).toBeNull();
    expect(parsePathPattern('{7f3c}/a.xml')).toBeNull();
    expect(parsePathPattern('/a/b/*.xml')).toMatchObject({ folder: '/a/b' });
    expect(parsePathPattern('/*')).toMatchObject({ folder: '/' });
    expect(parsePathPattern('../a*/./b')).toMatchObject({ folder: '..', segments: [{}, {}] });
    expect(parsePathPattern('*')).toMatchObject({ folder: '.' });
  });

  it.each([
    ['{1..20000000}', '{ and }'],
    ['{..,a}/2/uploads/*/S*', '{ and }'],
    ['in/{a}/*.xml', '{ and }'],
    ['uploads/*/+(+(a|aa)|+(a))x', '[(]'],
    ['!(a).xml', '[(]'],
    ['a?(b)', '[(]'],
    ['a/*/../../2/*', '..'],
    ['a[b/c]*', 'not closed'],
    ['[[:alpha:]]*', '[A-Za-z]'],
    ['[z-a]', 'reverse it'],
    ['a\\*b', '[*]'],
    [`${'a/'.repeat(500)}*${'b'.repeat(30)}`, '1024'],
    [`*${'/a'.repeat(64)}`, '64'],
  ])('%s is refused, with what to write instead', (text, hint) => {
    expect(() => parsePathPattern(text)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(hint) }),
    );
  });

  it('is compared in steps that its length bounds', () => {
    const name = 'a'.repeat(255);
    const hostile = `${'*a'.repeat(500)}*b`;
    for (let time = 0; time < 100; time += 1) expect(matches(hostile, name)).toBe(false);
  });
});
