/** Paths of this machine in messages for an organisation. */
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createPathMask } from '../../../src/runtime/host-paths.ts';

const home = { directory: '/srv/a+b', filesDirectory: '/srv/a+b/files' };

it('names files of the organisation as it does, and nothing else of this machine', () => {
  const hide = createPathMask(home, 1);
  const installation = fileURLToPath(new URL('../../../', import.meta.url));
  expect(hide('loading into /srv/a+b/files/1/out')).toBe('loading into out');
  expect(hide('/srv/a+b/files/1: empty')).toBe('.: empty');
  expect(hide('/srv/a+b/files/12/uploads/x')).toBe('$SVC_HOME/files/12/uploads/x');
  expect(hide('(/srv/a+b) /srv/a+bc /srv/aab/x')).toBe('($SVC_HOME) /srv/a+bc /srv/aab/x');
  expect(hide(`at file://${installation}src/a.ts:1:2`)).toBe('at file://…/src/a.ts:1:2');
  expect(hide('/data/roots/in.xml')).toBe('/data/roots/in.xml');
});
