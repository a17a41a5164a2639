/** For which outages a job waits. */
import { describe, expect, it } from 'vitest';
import { createReachedServers, serverOf } from '../../../src/tools/session/tool-session.ts';

const label = 'postgresql://db.example:5432/lake?schema=x';

function servers(known: readonly string[], waitedBefore = false) {
  const noted: string[] = [];
  const reached = createReachedServers(
    {
      noteReachedServer: async (_, server) => void noted.push(server),
      isReachedServer: async (_, server) => known.includes(server),
    },
    1,
    waitedBefore,
  );
  return { reached, noted };
}

describe('a job waits', () => {
  it('for room on a disk, and for the metadata database', async () => {
    const { reached } = servers([]);
    expect(await reached.mayWaitFor({ of: 'room' })).toBe(true);
    expect(await reached.mayWaitFor({ of: 'server', label: 'metadb:shop' })).toBe(true);
    expect(await reached.mayWaitFor(null)).toBe(false);
  });

  it('for a server that an earlier job reached, and for no other', async () => {
    const { reached } = servers(['postgresql://db.example:5432']);
    expect(await reached.mayWaitFor({ of: 'server', label })).toBe(true);
    expect(await reached.mayWaitFor({ of: 'server', label: label.replace('db.', 'bd.') })).toBe(false);
    expect(await reached.mayWaitFor({ of: 'server', label: 'a folder' })).toBe(false);
  });

  it('once for a server that it reached itself', async () => {
    for (const [before, waits] of [
      [false, true],
      [true, false],
    ] as const) {
      const { reached, noted } = servers([], before);
      reached.note(label);
      reached.note(label);
      reached.note('out/rows');
      expect(noted).toEqual(['postgresql://db.example:5432']);
      expect(await reached.mayWaitFor({ of: 'server', label })).toBe(waits);
    }
  });
});

it.each([
  [label, 'postgresql://db.example:5432'],
  ['mysql://localhost/shop', 'mysql://localhost'],
  ['iceberg:https://catalogue.example/v1?namespace=a', 'iceberg:https://catalogue.example'],
  ['metadb:shop', 'metadb:'],
  ['/srv/out', null],
  ['duckdb:shop.duckdb', null],
])('the server of %s', (text, server) => {
  expect(serverOf(text)).toBe(server);
});
