/** Tokens of an identity provider: real ones, signed and checked with the keys of a real key set served over HTTP. */
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOidcVerifier } from '../../../../src/runtime/system/oidc-verifier.ts';
import { createTestApp } from '../../../support/memory/adapters.ts';

const issuer = 'https://idp.example/realms/main';
const audience = 'conversion';
type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

let rsa: Keys;
let elliptic: Keys;
let stranger: Keys;
let server: Server;
let keySet: object;
let served = 0;
let broken = false;
let jwks: string;

beforeAll(async () => {
  [rsa, elliptic, stranger] = await Promise.all([
    generateKeyPair('RS256'),
    generateKeyPair('ES256'),
    generateKeyPair('RS256'),
  ]);
  keySet = {
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256', use: 'sig' },
      { ...(await exportJWK(elliptic.publicKey)), kid: 'ec', alg: 'ES256', use: 'sig' },
    ],
  };
  server = createServer((_, answer) => {
    served += 1;
    answer.writeHead(broken ? 500 : 200, { 'Content-Type': 'application/json' }).end(JSON.stringify(keySet));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  jwks = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
});
afterAll(() => server.close());

function sign(
  claims: JWTPayload,
  how: { kid?: string; alg?: string; key?: Keys['privateKey']; expires?: string } = {},
) {
  const token = new SignJWT({ sub: 'alice', iss: issuer, aud: audience, ...claims }).setProtectedHeader({
    alg: how.alg ?? 'RS256',
    kid: how.kid ?? 'rsa',
  });
  if (how.expires !== '') token.setExpirationTime(how.expires ?? '5m');
  return token.sign(how.key ?? rsa.privateKey);
}

async function appWith(more: Record<string, string> = {}) {
  const properties = {
    'svc.oidc.issuer': issuer,
    'svc.oidc.audience': audience,
    'svc.oidc.jwks': jwks,
    ...more,
  };
  const tokens = await createOidcVerifier({
    issuer,
    audience,
    jwks: properties['svc.oidc.jwks'],
    algorithms: ['RS256', 'ES256'],
    graceMs: 86_400_000,
  });
  const app = await createTestApp(properties, { tokens });
  const status = async (token: string, path = '/v2/executions/all') =>
    (await app.send(path, { key: token })).status;
  return { ...app, status };
}

describe('tokens of an identity provider', () => {
  it('do what their scopes say, for the organisation that they name', async () => {
    const { status, send } = await appWith();
    const token = await sign({ org: 2, scope: 'openid jobs:read' });
    expect(await status(token)).toBe(200);
    expect(await status(token, '/v2/schema/all')).toBe(403);
    expect(await (await send('/v2/about/org', { key: token })).json()).toMatchObject({ id_org: 2 });
    const named = await sign(
      { org: 'other', scope: ['schemas:read'] },
      { kid: 'ec', alg: 'ES256', key: elliptic.privateKey },
    );
    expect(await status(named, '/v2/schema/all')).toBe(200);
    expect(await (await send('/v2/about/org', { key: named })).json()).toMatchObject({ id_org: 2 });
  });

  it('are mapped from the claims and names that the operator says', async () => {
    const { status } = await appWith({
      'svc.oidc.scope_claim': 'realm_access.roles',
      'svc.oidc.scopes': 'analyst=jobs:read schemas:read, boss=admin',
      'svc.oidc.default_org': '1',
    });
    const token = await sign({ realm_access: { roles: ['analyst', 'constructor'] } });
    expect([
      await status(token),
      await status(token, '/v2/schema/all'),
      await status(token, '/v2/admin/keys'),
    ]).toEqual([200, 200, 403]);
    expect(await status(await sign({ realm_access: { roles: ['boss'] } }), '/v2/admin/keys')).toBe(200);
  });

  it('are refused when anything is wrong with them', async () => {
    const { status, send } = await appWith();
    const good = { org: 1, scope: 'jobs:read' };
    const [header, payload, signature] = (await sign(good)).split('.') as [string, string, string];
    const forged = btoa(
      JSON.stringify({ ...good, sub: 'alice', iss: issuer, aud: audience, exp: 4e9, scope: 'admin' }),
    ).replaceAll('=', '');
    const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(rsa.publicKey)));
    const wrong: Record<string, string> = {
      'another issuer': await sign({ ...good, iss: 'https://idp.example' }),
      'another audience': await sign({ ...good, aud: 'someone else' }),
      expired: await sign(good, { expires: '-2m' }),
      'no expiry': await sign(good, { expires: '' }),
      'not yet valid': await sign({ ...good, nbf: Math.floor(Date.now() / 1000) + 600 }),
      'no subject': await sign({ ...good, sub: undefined as unknown as string }),
      'a key that is not in the set': await sign(good, { key: stranger.privateKey }),
      'an unknown key id': await sign(good, { kid: 'gone', key: stranger.privateKey }),
      'an algorithm that is not pinned': await sign(good, {
        alg: 'PS256',
        key: await privateKeyFor('PS256'),
      }),
      'no signature': new UnsecuredJWT({ ...good, sub: 'alice', iss: issuer, aud: audience })
        .setExpirationTime('5m')
        .encode(),
      'a symmetric one, signed with the public key': await new SignJWT({
        ...good,
        sub: 'a',
        iss: issuer,
        aud: audience,
      })
        .setProtectedHeader({ alg: 'HS256', kid: 'rsa' })
        .setExpirationTime('5m')
        .sign(secret),
      'changed claims': `${header}.${forged}.${signature}`,
      'a cut signature': `${header}.${payload}.${signature.slice(0, -4)}`,
      'no organisation': await sign({ scope: 'jobs:read' }),
      'an organisation that is not there': await sign({ ...good, org: 4711 }),
      'an organisation by an object': await sign({ ...good, org: { id: 1 } }),
      'nothing like a token': 'a.b.c',
      'too long': `${header}.${'A'.repeat(20_000)}.${signature}`,
    };
    for (const [name, token] of Object.entries(wrong))
      expect([name, await status(token)]).toEqual([name, 401]);
    const answer = await send('/v2/executions/all', { key: wrong['expired']! });
    expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
  });

  it('that name no key, or one that several have, are checked with each that may be meant', async () => {
    const second = await generateKeyPair('RS256');
    const before = keySet as { readonly keys: readonly object[] };
    const twin = { ...(await exportJWK(second.publicKey)), alg: 'RS256', use: 'sig' };
    const claims = { org: 1, scope: 'jobs:read' };
    const nameless = (key: Keys['privateKey']): Promise<string> =>
      new SignJWT({ sub: 'alice', iss: issuer, aud: audience, ...claims })
        .setProtectedHeader({ alg: 'RS256' })
        .setExpirationTime('5m')
        .sign(key);
    try {
      for (const kid of ['rsa', undefined]) {
        keySet = { keys: [...before.keys, kid === undefined ? twin : { ...twin, kid }] };
        const { status } = await appWith();
        const tokens = [
          await nameless(rsa.privateKey),
          await nameless(second.privateKey),
          await sign(claims),
          await nameless(stranger.privateKey),
          await sign(claims, { key: stranger.privateKey }),
        ];
        expect(await Promise.all(tokens.map((token) => status(token)))).toEqual([200, 200, 200, 401, 401]);
      }
    } finally {
      keySet = before;
    }
  });

  it('are no concern of the keys, nor of a service without a provider', async () => {
    const { send } = await appWith();
    expect((await send('/v2/executions/all')).status).toBe(200);
    const without = await createTestApp();
    expect(
      (await without.send('/v2/executions/all', { key: await sign({ org: 1, scope: 'jobs:read' }) })).status,
    ).toBe(401);
  });

  it('are told apart from a provider that does not answer: 503', async () => {
    broken = true;
    try {
      const { status } = await appWith();
      expect(await status(await sign({ org: 1, scope: 'jobs:read' }))).toBe(503);
      const { status: unreachable } = await appWith({ 'svc.oidc.jwks': 'http://127.0.0.1:1/keys' });
      expect(await unreachable(await sign({ org: 1, scope: 'jobs:read' }))).toBe(503);
      expect(await unreachable('not a token')).toBe(401);
    } finally {
      broken = false;
    }
  });

  it('with unknown key ids do not make the service ask the provider each time', async () => {
    const { status } = await appWith();
    await status(await sign({ org: 1, scope: 'jobs:read' }));
    const before = served;
    for (let at = 0; at < 20; at += 1)
      expect(await status(await sign({ org: 1 }, { kid: `k${at}`, key: stranger.privateKey }))).toBe(401);
    expect(served - before).toBeLessThanOrEqual(1);
  });

  it('are checked with the keys known last while the provider hangs, for the grace period', async () => {
    let hangs = false;
    let asked = 0;
    const hanging = createServer((_, answer) => {
      asked += 1;
      if (!hangs) answer.end(JSON.stringify(keySet));
    });
    await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve));
    try {
      let now = 1_790_000_000_000;
      const lines: string[] = [];
      const note = (message: string): void => void lines.push(message);
      const { port } = hanging.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/keys`;
      const tokens = await createOidcVerifier(
        { issuer, audience, jwks: url, algorithms: ['RS256', 'ES256'], graceMs: 3_600_000 },
        { nowMs: () => now, logger: { info: note, warn: note, error: note } },
      );
      const token = await sign({}, { expires: '100d' });
      const took = async (): Promise<number> => {
        const began = performance.now();
        expect(await tokens.verify(token)).toMatchObject({ sub: 'alice' });
        return performance.now() - began;
      };
      await took();
      hangs = true;
      now += 11 * 60_000;
      expect(await took()).toBeLessThan(1500);
      expect(await took()).toBeLessThan(200);
      expect(asked).toBe(2);
      await new Promise((resolve) => setTimeout(resolve, 5500));
      expect(tokens.keys?.()).toEqual({ ageMs: 11 * 60_000, failures: 1 });
      expect(lines).toEqual(['the keys of the identity provider cannot be fetched']);
      now += 31_000;
      expect(await took()).toBeLessThan(200);
      expect(asked).toBe(3);
      hangs = false;
      hanging.closeAllConnections();
      await new Promise((resolve) => setTimeout(resolve, 100));
      now += 31_000;
      await took();
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(tokens.keys?.().ageMs).toBe(0);
      expect(lines.at(-1)).toBe('the keys of the identity provider are fetched again');
      hangs = true;
      now += 71 * 60_000;
      await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'service_unavailable' });
    } finally {
      hanging.closeAllConnections();
      hanging.close();
    }
  });

  it('do not fill the memory where the provider answers without end', async () => {
    const block = Buffer.alloc(1024 * 1024, ' ');
    let sent = 0;
    const endless = createServer((_, answer) => {
      const more = (fault?: Error | null): void => {
        if (fault) return;
        sent += block.length;
        answer.write(block, more);
      };
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = endless.address() as AddressInfo;
      const { status } = await appWith({ 'svc.oidc.jwks': `http://127.0.0.1:${port}/keys` });
      expect(await status(await sign({ org: 1, scope: 'jobs:read' }))).toBe(503);
      // what the sockets hold on both sides is more than what is read
      expect(sent).toBeLessThan(64 * block.length);
    } finally {
      endless.close();
      endless.closeAllConnections();
    }
  });

  it.each<[string, string, Record<string, string | number>]>([
    ['204', '204 x', {}],
    ['205', '205 x', {}],
    ['304', '304 x', {}],
    ['a redirect', '302 x', { Location: 'http://169.254.169.254/', 'Content-Length': 0 }],
    ['half a body', '200 x', { 'Content-Length': 1000 }],
    ['chunks that are none', '200 x', { 'Transfer-Encoding': 'chunked' }],
    ['a broken compression', '200 x', { 'Content-Encoding': 'gzip', 'Content-Length': 8 }],
    ['two lengths', '200 x\r\nContent-Length: 1', { 'Content-Length': 2 }],
    ['no HTTP', '999999 x', {}],
  ])('are told apart from a provider that answers %s: 503', async (_, first, headers) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const hostile = createSocketServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.end(`HTTP/1.1 ${first}\r\n${lines.join('')}\r\n{"keys":`));
    });
    await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = hostile.address() as AddressInfo;
      const { status } = await appWith({ 'svc.oidc.jwks': `http://127.0.0.1:${port}/keys` });
      expect(await status(await sign({ org: 1, scope: 'jobs:read' }))).toBe(503);
    } finally {
      hostile.close();
    }
  });

  it('are checked with keys from a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'oidc-'));
    try {
      const file = join(folder, 'jwks.json');
      await writeFile(file, JSON.stringify(keySet));
      const { status } = await appWith({ 'svc.oidc.jwks': file });
      expect(await status(await sign({ org: 1, scope: 'jobs:read' }))).toBe(200);
      await expect(
        createOidcVerifier({
          issuer,
          audience,
          jwks: join(folder, 'none.json'),
          algorithms: ['RS256'],
          graceMs: 1,
        }),
      ).rejects.toMatchObject({ code: 'service_unavailable' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** The private RSA key again, for another algorithm. */
async function privateKeyFor(alg: string): Promise<Keys['privateKey']> {
  return (await generateKeyPair(alg)).privateKey;
}
