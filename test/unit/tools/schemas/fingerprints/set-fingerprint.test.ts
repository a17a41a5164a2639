/** Two XSD sets have the same fingerprint only where nothing can make another model of them. */
import { expect, test } from 'vitest';
import { defaultEngineLimits } from '../../../../../src/engine/limits.ts';
import { setFingerprint } from '../../../../../src/tools/schemas/set-fingerprint.ts';
import { parseToolArguments } from '../../../../../src/service/jobs/request/read-request.ts';

const record = (name: string, sha256: string) => ({ name, sha256, bytes: 1 });
const set = { records: [record('a.xsd', '1'), record('b.xsd', '2')], entries: undefined };
const fingerprint = (changed: object, args: readonly string[] = [], limits = defaultEngineLimits) =>
  setFingerprint({ ...set, ...changed }, parseToolArguments('xsd2er', ['in.xsd', ...args]), limits);

test('the same set with the same options', () => {
  const one = fingerprint({});
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(fingerprint({}, ['--name', 'other'])).toBe(one);
  // the default
  expect(fingerprint({}, ['-g', '3'])).toBe(one);
});

test.each<[string, object, readonly string[]]>([
  ['content', { records: [record('a.xsd', '1'), record('b.xsd', '3')] }, []],
  ['name of a file', { records: [record('a.xsd', '1'), record('c.xsd', '2')] }, []],
  ['order of files', { records: set.records.toReversed() }, []],
  ['entry', { entries: ['a.xsd'] }, []],
  ['map level', {}, ['-g', '1']],
  ['prefix', {}, ['-r', 'p_']],
  ['suffix', {}, ['-y', '_s']],
  ['case of names', {}, ['--namemode', 'u']],
  ['renaming', {}, ['--rename', 'a=b']],
  ['length of names', {}, ['--name-max-len', '30']],
  ['length of texts', {}, ['--default-varchar-len', '30']],
  ['root', {}, ['--root', 'a']],
  ['missing parts', {}, ['--missing', 'wildcard']],
  ['columns of all tables', {}, ['-R', 'loaded', 'NOW']],
])('another %s', (_what, changed, args) => {
  expect(fingerprint(changed, args)).not.toBe(fingerprint({}));
});

test('other limits', () => {
  const limits = { ...defaultEngineLimits, maxDepth: 3 };
  expect(fingerprint({}, [], limits)).not.toBe(fingerprint({}));
});
