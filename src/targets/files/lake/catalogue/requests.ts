/** Sends requests to a catalogue of Iceberg tables (Iceberg REST catalog API): addresses, retries, and errors as AppErrors. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../../errors.ts';
import { isObject, parsed, exactText, parseExact } from '../../json.ts';

/** Sends one request to an allowed host. Redirects are returned, not followed. */
export type CatalogueTransport = (
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body?: string,
) => Promise<Response>;

export interface CatalogueRequest {
  readonly method: 'GET' | 'POST';
  /** the path below the address, beginning with `v1/` */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** statuses from 300 on that the caller handles */
  readonly understood?: readonly number[];
}

export interface CatalogueAnswer {
  readonly status: number;
  /** `type` of an error, such as `NoSuchTableException`; '' if there is none */
  readonly fault: string;
  /** null if there is no body */
  readonly body: unknown;
}

export interface CatalogueRequests {
  /**
   * Sends a request with retries. AppErrors: `target_not_allowed` if the catalogue refuses it, `service_unavailable` if it does not answer.
   */
  send(request: CatalogueRequest): Promise<CatalogueAnswer>;
  /** Sends a request once; returns null if its outcome is unknown. */
  sendOnce(request: CatalogueRequest): Promise<CatalogueAnswer | null>;
}

const tries = 5;
const firstPauseMs = 200;
/** the maximum bytes of a response: metadata of a table with very many snapshots */
const mostBytes = 256 * 1024 * 1024;
/** the server has done nothing yet: any request can be sent again */
const notBegun: ReadonlySet<number> = new Set([429]);
const notKnown = (status: number): boolean => status >= 500 && status !== 501;

/** `address`: without a trailing '/'. `label`: the target, for people. */
export function createCatalogueRequests(
  address: string,
  login: CatalogueLogin,
  label: string,
  transport: CatalogueTransport,
): CatalogueRequests {
  const tokens = createTokens(login, label, async (form) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' };
    const url = new URL(`${address}/v1/oauth/tokens`);
    return retried(async () => {
      const answer = await transport('POST', url, headers, form.toString());
      return { status: answer.status, text: await textOf(answer) };
    });
  });

  async function attempt({ method, path, query, body }: CatalogueRequest): Promise<CatalogueAnswer> {
    const url = new URL(`${address}/${path}`);
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    for (let isLast = false; ; isLast = true) {
      const authorization = await tokens.header();
      const headers: Record<string, string> = {
        Accept: 'application/json',
        'X-Iceberg-Access-Delegation': 'vended-credentials',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(authorization === null ? {} : { Authorization: authorization }),
      };
      const answer = await transport(method, url, headers, body === undefined ? undefined : exactText(body));
      const text = await textOf(answer);
      // the token has expired meanwhile
      if ((answer.status === 401 || answer.status === 419) && !isLast && tokens.renew()) continue;
      return answerOf(answer.status, text);
    }
  }

  async function retried<T extends { readonly status: number }>(work: () => Promise<T>): Promise<T> {
    for (let number = 1; ; number += 1) {
      let fault: unknown = null;
      try {
        const answer = await work();
        if (number === tries || !(notKnown(answer.status) || notBegun.has(answer.status))) return answer;
      } catch (error) {
        if (error instanceof AppError) throw error;
        fault = error;
      }
      if (number === tries && fault !== null) throw unreachable(label, fault);
      await sleep(firstPauseMs * 2 ** (number - 1));
    }
  }

  const understand = (request: CatalogueRequest, answer: CatalogueAnswer): CatalogueAnswer => {
    const { status } = answer;
    if ((status >= 200 && status < 300) || request.understood?.includes(status) === true) return answer;
    throw refusal(label, answer, tokens.secrets());
  };

  return {
    send: async (request) => understand(request, await retried(() => attempt(request))),
    sendOnce: async (request) => {
      for (let number = 1; ; number += 1) {
        let answer: CatalogueAnswer;
        try {
          answer = await attempt(request);
        } catch (error) {
          if (error instanceof AppError) throw error;
          return null;
        }
        if (notKnown(answer.status)) return null;
        if (!notBegun.has(answer.status) || number === tries) return understand(request, answer);
        await sleep(firstPauseMs * 2 ** (number - 1));
      }
    },
  };
}

function answerOf(status: number, text: string): CatalogueAnswer {
  let body: unknown = null;
  try {
    body = text === '' ? null : parseExact(text);
  } catch {
    // for an error the status is enough; a success needs no such body
  }
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
  return { status, fault: typeof error['type'] === 'string' ? error['type'] : '', body };
}

async function textOf(answer: Response): Promise<string> {
  let text = '';
  let bytes = 0;
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > mostBytes)
      throw new AppError('target_not_allowed', 'the catalogue answers with more than any table’s metadata');
    text += decoder.decode(chunk as Uint8Array, { stream: true });
  }
  return text + decoder.decode();
}

function refusal(
  label: string,
  { status, fault, body }: CatalogueAnswer,
  secrets: readonly string[],
): AppError {
  if (status >= 300 && status < 400)
    return new AppError(
      'target_not_allowed',
      `${label}: the catalogue leads elsewhere (status ${status}); name the address that it leads to`,
    );
  if (status === 401 || status === 403 || status === 419)
    return new AppError(
      'target_not_allowed',
      `${label}: the catalogue refuses these credentials (status ${status}${told()}); -p TOKEN gives a token, -u CLIENT and -p SECRET a client’s secret, --credential NAME or a source of the operator either`,
    );
  if (status >= 500 || status === 429)
    return new AppError(
      'service_unavailable',
      `${label}: the catalogue cannot be used now (status ${status})`,
      { outage: { of: 'server', label } },
    );
  if (status === 404) return new AppError('not_found', `${label}: the catalogue has no such thing${told()}`);
  if (status === 409) return new AppError('conflict', `${label}: the catalogue sees a conflict${told()}`);
  return new AppError('target_not_allowed', `${label}: the catalogue refuses (status ${status}${told()})`);

  /** the catalogue's message, without secrets */
  function told(): string {
    const error = isObject(body) && isObject(body['error']) ? body['error'] : {};
    const message = typeof error['message'] === 'string' ? error['message'] : '';
    if (message === '') return fault === '' ? '' : `: ${fault.slice(0, 80)}`;
    const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message);
    return `: ${clean.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 300)}`;
  }
}

/** Returns the error for a failed connection. The message `fetch failed` says nothing, but its cause does. */
function unreachable(label: string, error: unknown): AppError {
  const { code, cause, name } = error as { code?: unknown; cause?: { code?: unknown }; name?: string };
  const why = code ?? cause?.code ?? name;
  return new AppError('service_unavailable', `${label}: the catalogue does not answer (${String(why)})`, {
    cause: error,
    outage: { of: 'server', label },
  });
}

export type CatalogueLogin =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'client'; readonly id: string; readonly secret: string };

/** Sends a form to the catalogue's own token endpoint. */
type AskForToken = (form: URLSearchParams) => Promise<{ readonly status: number; readonly text: string }>;

interface CatalogueTokens {
  /** Returns the value of the `Authorization` header; null if there is none. */
  header(): Promise<string | null>;
  /** Returns whether a rejected token can be replaced by a new one. */
  renew(): boolean;
  /** the secrets that no message may contain */
  secrets(): readonly string[];
}

/** Polaris accepts only the scopes of its roles. */
const scopes = ['catalog', 'PRINCIPAL_ROLE:ALL'] as const;
/** a token is no longer used this long before it expires */
const marginMs = 30_000;

function createTokens(login: CatalogueLogin, label: string, ask: AskForToken): CatalogueTokens {
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
