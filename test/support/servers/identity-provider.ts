/** An OpenID Connect provider of the tests: its public keys over HTTP, and tokens that it signs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

export interface IdentityProvider {
  /** the settings that make a service trust it */
  readonly properties: Readonly<Record<string, string>>;
  /** A token of its key, or of one that nobody has published. */
  sign(claims: JWTPayload, forged?: boolean): Promise<string>;
  end(): Promise<void>;
}

const issuer = 'https://idp.example/realms/main';
const audience = 'conversion';

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const [own, stranger] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const keys = [{ ...(await exportJWK(own.publicKey)), kid: 'first', alg: 'ES256', use: 'sig' }];
  const server = createServer((_, answer) => {
    answer.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    properties: {
      'svc.oidc.issuer': issuer,
      'svc.oidc.audience': audience,
      'svc.oidc.jwks': `http://127.0.0.1:${port}/keys`,
    },
    sign: (claims, forged = false) =>
      new SignJWT({ sub: 'alice', iss: issuer, aud: audience, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'first' })
        .setExpirationTime('5m')
        .sign(forged ? stranger.privateKey : own.privateKey),
    end: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
