/** A PostgreSQL behind PgBouncer: loaded where a session stays a session, refused by name where each transaction has another. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPgBouncer, type TestPgBouncer } from '../../support/servers/pgbouncer.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../support/service/external-postgres.ts';
import { freightDocumentFolder, freightDocuments } from '../../support/service/fixtures.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

describe('a PostgreSQL behind PgBouncer', { timeout: 120_000, ...needs(['postgresql', 'pgbouncer']) }, () => {
  const trial = useTrial();
  let server: ExternalPostgres;
  let home: ServiceHome;
  let logical: number;
  const poolers: TestPgBouncer[] = [];
  const pooler = async (settings: Parameters<typeof startPgBouncer>[1]): Promise<string> => {
    poolers.push(await startPgBouncer(server, settings));
    return `${poolers.at(-1)!.url}?schema=freight`;
  };

  beforeAll(async () => {
    server = await startExternalPostgres();
    home = await trial.home();
    const loaded = await convert(home, 'xml2er', freightDocumentFolder, '-o', `${server.url}?schema=freight`);
    logical = loaded.logical!;
  });

  afterAll(async () => {
    for (const one of poolers) await one.stop();
    await server?.stop();
  });

  const rows = async (): Promise<unknown> =>
    [...(await server.sql`select count(*)::int as documents from freight._documents`)][0];

  it('is loaded, read and emptied with pool_mode = session', async () => {
    const target = await pooler({ pool_mode: 'session' });
    await convert(home, 'xml2er', freightDocumentFolder, '-l', String(logical), '-o', target);
    expect(await rows()).toEqual({ documents: 2 * freightDocuments.length });
    const [{ name }] = freightDocuments as unknown as [{ name: string }];
    await convert(home, 'unload', '-l', String(logical), '-i', target, '-D', name);
    expect(await rows()).toEqual({ documents: 2 * freightDocuments.length - 2 });
    const folder = await trial.folder('written-');
    await convert(home, 'er2xml', '-l', String(logical), '-i', target, '-o', folder);
    expect(await readFile(join(folder, freightDocuments[1]!.name), 'utf8')).toContain('<');
  });

  it.each(['transaction', 'statement'])(
    'is refused with pool_mode = %s, and stays as it is',
    async (mode) => {
      const target = await pooler({ pool_mode: mode });
      const before = await rows();
      const runs = [
        ['xml2er', freightDocumentFolder, '-l', String(logical), '-o', target],
        ['er2xml', '-l', String(logical), '-i', target, '-o', await trial.folder('written-')],
        ['unload', '-l', String(logical), '-i', target, '-D', freightDocuments[1]!.name],
      ] as const;
      for (const [tool, ...argv] of runs) {
        const { code, stdout, stderr } = await runTool(home, tool, argv);
        expect([tool, code]).not.toEqual([tool, 0]);
        expect(stdout + stderr).toContain('pool_mode = session');
      }
      expect(await rows()).toEqual(before);
    },
  );

  it('is refused where the pooler has one session alone', async () => {
    const target = await pooler({ pool_mode: 'session', default_pool_size: 1 });
    const { code, stdout, stderr } = await runTool(home, 'xml2er', [
      freightDocumentFolder,
      '-l',
      String(logical),
      '-o',
      target,
    ]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain('default_pool_size');
  });
});
