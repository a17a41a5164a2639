/** What every access store must do, whatever it is made of. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AccessStore } from '../../../src/ports/stores/access.ts';

export interface AccessStoreFixture {
  readonly store: AccessStore;
  close(): Promise<void>;
}

const hash = (digit: string): string => digit.repeat(64);

const event = (idOrg: number, subject: string | null) =>
  ({ idOrg, actor: 'key a1', action: 'POST /x', subject, status: 200, requestId: 'r1' }) as const;

export function describeAccessStore(name: string, open: () => Promise<AccessStoreFixture>): void {
  describe(`${name} as an access store`, () => {
    let fixture: AccessStoreFixture;
    let access: AccessStore;
    beforeAll(async () => {
      fixture = await open();
      access = fixture.store;
    });
    afterAll(() => fixture.close());

    test('organisations are made, named once, and listed', async () => {
      const made = await access.createOrg({ name: 'research', description: 'é' });
      expect(made).toMatchObject({ name: 'research', description: 'é', schema_count: 0, job_count: 0 });
      expect(Math.abs(made.created - Date.now())).toBeLessThan(60_000);
      expect(await access.findOrg(made.id_org)).toEqual(made);
      expect((await access.listOrgs()).map(({ name }) => name)).toEqual(['default', 'research']);
      await expect(access.createOrg({ name: 'research', description: null })).rejects.toMatchObject({
        code: 'conflict',
      });
    });

    test('keys are kept as given; at first there is none', async () => {
      expect(await access.hasNoKeys()).toBe(true);
      const key = {
        idKey: 'a1',
        idOrg: 1,
        scopes: ['jobs:read', 'admin'],
        secretSha256: hash('a'),
        expiresAt: null,
        revokedAt: null,
      } as const;
      await access.createKey({ ...key, name: 'first' });
      expect(await access.hasNoKeys()).toBe(false);
      expect(await access.findKey('a1')).toEqual(key);
      const timed = {
        ...key,
        idKey: 'a2',
        scopes: [],
        expiresAt: 1_790_000_000_123,
        revokedAt: 1_790_000_000_999,
      };
      await access.createKey({ ...timed, name: 'second' });
      expect(await access.findKey('a2')).toEqual(timed);
      expect(await access.findKey('none')).toBeNull();
      await expect(access.createKey({ ...key, name: 'again' })).rejects.toMatchObject({ code: 'conflict' });
      await expect(access.createKey({ ...key, idKey: 'a3', idOrg: 999, name: 'x' })).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('the first organisation is there from the start', async () => {
      const org = await access.findOrg(1);
      expect(org).toEqual({
        id_org: 1,
        name: 'default',
        description: null,
        created: org?.created,
        schema_count: 0,
        job_count: 0,
      });
      expect(Math.abs((org?.created ?? 0) - Date.now())).toBeLessThan(600_000);
      expect(await access.findOrg(999)).toBeNull();
      expect(await access.findOrg(2 ** 60)).toBeNull();
    });

    test('an upload token is spent once, in time, for its own kind', async () => {
      const { expiresAt } = await access.saveUploadToken({
        sha256: hash('1'),
        idOrg: 1,
        idKey: 'oidc alice',
        kind: 'xml',
        maxBytes: 10 * 1024 ** 3,
        ttlMs: 300_000,
      });
      expect(Math.abs(expiresAt - Date.now() - 300_000)).toBeLessThan(60_000);
      expect(await access.spendUploadToken(hash('1'), 'xsd')).toBeNull();
      expect(await access.spendUploadToken(hash('2'), 'xml')).toBeNull();
      const spent = await Promise.all([
        access.spendUploadToken(hash('1'), 'xml'),
        access.spendUploadToken(hash('1'), 'xml'),
      ]);
      expect(spent.filter((claim) => claim !== null)).toEqual([{ idOrg: 1, maxBytes: 10 * 1024 ** 3 }]);
      await access.saveUploadToken({
        sha256: hash('3'),
        idOrg: 1,
        idKey: 'oidc alice',
        kind: 'xsd',
        maxBytes: 1,
        ttlMs: 1,
      });
      await delay(20);
      expect(await access.spendUploadToken(hash('3'), 'xsd')).toBeNull();
    });

    test('an upload token ends with the key that asked for it', async () => {
      const key = { idOrg: 1, scopes: ['files:upload'], secretSha256: hash('d'), revokedAt: null } as const;
      const past = Date.now() - 1000;
      await access.createKey({ ...key, idKey: 'going', name: 'k', expiresAt: null });
      await access.createKey({ ...key, idKey: 'gone', name: 'k', expiresAt: past });
      await access.createKey({ ...key, idKey: 'good', name: 'k', expiresAt: past + 600_000 });
      for (const [at, idKey] of ['going', 'gone', 'good'].entries())
        await access.saveUploadToken({
          sha256: hash(String(5 + at)),
          idOrg: 1,
          idKey,
          kind: 'xml',
          maxBytes: 1,
          ttlMs: 300_000,
        });
      await access.revoke(1, 'going');
      expect(await access.spendUploadToken(hash('5'), 'xml')).toBeNull();
      expect(await access.spendUploadToken(hash('6'), 'xml')).toBeNull();
      expect(await access.spendUploadToken(hash('7'), 'xml')).not.toBeNull();
    });

    test('keys are listed without their secrets, and end once', async () => {
      const { id_org } = await access.createOrg({ name: 'listed', description: null });
      const key = {
        idOrg: id_org,
        scopes: ['admin'],
        secretSha256: hash('c'),
        expiresAt: 1_790_000_000_123,
        revokedAt: null,
      } as const;
      await access.createKey({ ...key, idKey: 'l1', name: 'one' });
      await access.createKey({ ...key, idKey: 'l2', name: 'two' });
      const [one, two] = await access.listKeys(id_org);
      expect(one).toEqual({
        idKey: 'l1',
        idOrg: id_org,
        name: 'one',
        scopes: ['admin'],
        created: one!.created,
        expiresAt: 1_790_000_000_123,
        revokedAt: null,
      });
      expect(two!.idKey).toBe('l2');
      expect((await access.listKeys(null)).length).toBeGreaterThan(2);
      expect(await access.revoke(1, 'l1')).toBe(false);
      expect(await access.revoke(null, 'none')).toBe(false);
      expect(await access.revoke(id_org, 'l1')).toBe(true);
      const { revokedAt } = (await access.findKey('l1'))!;
      expect(revokedAt).not.toBeNull();
      expect(await access.revoke(null, 'l1')).toBe(true);
      expect((await access.findKey('l1'))!.revokedAt).toBe(revokedAt);
      expect((await access.findKey('l2'))!.revokedAt).toBeNull();
    });

    test('the audit log keeps what it was told, newest first, organisation by organisation', async () => {
      for (const [idOrg, subject] of [
        [1, 'first'],
        [2, 'second'],
        [1, null],
      ] as const)
        await access.recordAudit(event(idOrg, subject));
      const all = await access.listAudit(null, 0, 2);
      expect(all).toMatchObject({ page: 0, size: 2, totalElements: 3 });
      expect(all.content).toMatchObject([event(1, null), event(2, 'second')]);
      expect(Math.abs(all.content[0]!.at - Date.now())).toBeLessThan(60_000);
      expect(all.content[0]!.idAudit).toBeGreaterThan(all.content[1]!.idAudit);
      const own = await access.listAudit(1, 0, 20);
      expect(own.content.map(({ subject }) => subject)).toEqual([null, 'first']);
      expect((await access.listAudit(2, 1, 20)).content).toEqual([]);
    });

    test('an organisation is found by its exact name', async () => {
      expect(await access.findOrgNamed('default')).toEqual({ idOrg: 1 });
      expect(await access.findOrgNamed('Default')).toBeNull();
      expect(await access.findOrgNamed('')).toBeNull();
    });
  });
}
