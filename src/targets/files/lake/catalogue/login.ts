/** How a catalogue knows whose requests they are: a token, or one that it gives for a client's secret (OAuth 2.0, RFC 6749, 4.4). */
import { AppError } from '../../../../errors.ts';
import { isObject, parsed } from '../../folder/contents/manifest.ts';

export type CatalogueLogin =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'client'; readonly id: string; readonly secret: string };

/** A form sent to the catalogue's own address for tokens. */
export type AskForToken = (
  form: URLSearchParams,
) => Promise<{ readonly status: number; readonly text: string }>;

export interface CatalogueTokens {
  /** of `Authorization`; null: none */
  header(): Promise<string | null>;
  /** Whether another one can be had in place of one that was refused. */
  renew(): boolean;
  /** what must be read nowhere */
  secrets(): readonly string[];
}

/** Polaris knows no other scope than those of its roles. */
const scopes = ['catalog', 'PRINCIPAL_ROLE:ALL'] as const;
/** as long before its end a token is no longer used */
const marginMs = 30_000;

export function createTokens(login: CatalogueLogin, label: string, ask: AskForToken): CatalogueTokens {
  if (login.kind !== 'client')
    return {
      header: () => Promise.resolve(login.kind === 'token' ? `Bearer ${login.token}` : null),
      renew: () => false,
      secrets: () => (login.kind === 'token' ? [login.token] : []),
    };
  const given = new Set([login.secret]);
  let current: Promise<{ readonly token: string; readonly until: number }> | null = null;
  let scopeAt = 0;

  const fetchToken = async (): Promise<{ readonly token: string; readonly until: number }> => {
    for (;;) {
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: login.id,
        client_secret: login.secret,
        scope: scopes[scopeAt]!,
      });
      const { status, text } = await ask(form);
      const answer = parsed<unknown>(text);
      const told = isObject(answer) ? answer : {};
      const { access_token: token, expires_in: seconds, error } = told;
      if (status === 200 && typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)) {
        given.add(token);
        const lastsMs = typeof seconds === 'number' ? seconds * 1000 : Infinity;
        return { token, until: Date.now() + Math.max(lastsMs - marginMs, lastsMs / 2) };
      }
      if (error === 'invalid_scope' && scopeAt + 1 < scopes.length) scopeAt += 1;
      else
        throw new AppError(
          status >= 500 ? 'service_unavailable' : 'target_not_allowed',
          `${label}: the catalogue gives no token for the client ${login.id} (status ${status}${typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? `, ${error}` : ''}); -u CLIENT and -p SECRET are those of the catalogue, or -p TOKEN alone is a token`,
        );
    }
  };

  return {
    header: async () => {
      if (current !== null && Date.now() > (await current).until) current = null;
      current ??= fetchToken().catch((error: unknown) => {
        current = null;
        throw error;
      });
      return `Bearer ${(await current).token}`;
    },
    renew: () => {
      current = null;
      return true;
    },
    secrets: () => [...given],
  };
}
