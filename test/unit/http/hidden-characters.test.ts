/** Names that a reader cannot see whole are refused wherever a name is given. */
import { describe, expect, it } from 'vitest';
import { parseToolArguments } from '../../../src/service/jobs/request/read-request.ts';
import { createTestApp } from '../../support/memory/adapters.ts';

const hidden = ['\u202e', '\u2028', '\ufeff', '\u200b', '\u2066', '\u0007', '\u009b31m', '\u00ad', '\u061c'];
const places: readonly (readonly [string, (name: string) => unknown])[] = [
  ['/v2/schema/create', (name) => ({ name, xsd: ['a.xsd'] })],
  ['/v2/watches', (name) => ({ name, location: 'inbox', target: 'metadb:bank', every: '5m' })],
  ['/v2/admin/credentials', (name) => ({ name, kind: 'https', host: 'a.example', token: 't' })],
  ['/v2/admin/keys', (name) => ({ name, scopes: ['jobs:read'] })],
  ['/v2/admin/orgs', (name) => ({ name })],
  [
    '/v2/run/cmd',
    (name) => ({ name, executions: [{ app_name: 'xml2er', source: { file: { command: 'a.xml' } } }] }),
  ],
];

describe('hidden characters in names', () => {
  it.each(places)('%s refuses them', async (path, body) => {
    const { send } = await createTestApp();
    for (const character of hidden) {
      const answer = await send(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body(`in${character}voice`)),
      });
      expect(answer.status, JSON.stringify(character)).toBe(400);
      const problem = (await answer.json()) as { errors: { pointer: string }[] };
      expect(new Set(problem.errors.map(({ pointer }) => pointer))).toEqual(new Set(['/name']));
    }
  });

  it('--name refuses them, and takes the joiner that some scripts need', () => {
    for (const character of hidden) {
      const argv = ['a.xml', '--name', `in${character}voice`];
      expect(() => parseToolArguments('xml2er', argv), JSON.stringify(character)).toThrow('--name');
    }
    expect(parseToolArguments('xml2er', ['a.xml', '--name', 'می\u200cخواهم']).name).toBe('می\u200cخواهم');
  });
});
