/** `Idempotency-Key`: a repeated request that creates something gets the answer of the first one (docs/decisions/service/request-forms.md). */
import { z, type RouteConfig, type RouteHandler } from '@hono/zod-openapi';
import type { Context, Next } from 'hono';
import type { Adapters } from '../ports/adapters.ts';
import type { KeyHold } from '../ports/stores/idempotency.ts';
import { sha256Hex } from '../service/access/keys.ts';
import type { AppEnv } from './env.ts';
import { bodyText } from './json-body.ts';
import { problemsOnly, rawOperation, type Operation } from './operation.ts';

/** A process that dies frees its keys after this time. */
const leaseMs = 30_000;
const renewMs = 10_000;

/** The request header, for use in the schema of an operation's headers. */
export const idempotencyKeyHeader = {
  'idempotency-key': z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, { error: 'must be 1 to 255 printable ASCII characters' })
    .optional()
    .openapi({
      description:
        'A unique text for each request. Repeating a request with the same key returns the first answer again, for 24 hours by default; a different request with the same key is refused.',
      example: 'a8098c1a-f86e',
    }),
};

/** The response header, for use beside `json`. */
export const replayedHeader = {
  'Idempotency-Replayed': {
    description:
      '`true`: this is the answer to an earlier request with the same idempotency key; nothing was executed again.',
    schema: { type: 'string' as const, enum: ['true'] },
    example: 'true',
  },
};

export function setReplayed(c: Context<AppEnv>): void {
  c.header('Idempotency-Replayed', 'true');
  // nothing was made now that the audit log could name
  c.set('auditSubject', 'repeated request, answered as before');
}

/** The headers of an answer that are given again. */
const keptHeaders = ['Content-Type', 'Location'] as const;

/** An answer as it is stored, sealed: it may hold a secret that is stored nowhere else. */
interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type IdempotencyAdapters = Pick<Adapters, 'idempotency' | 'secrets' | 'logger'>;

/** The handler of an operation is the last one of its chain. */
const endOfChain: Next = async () => undefined;

/** Defines an operation that creates something: it takes `Idempotency-Key`, with which a repeated request creates nothing. */
export function creatingOperation<R extends RouteConfig>(
  adapters: IdempotencyAdapters,
  route: R,
  handler: RouteHandler<R, AppEnv>,
): Operation<R> {
  const repeatable: RouteConfig = {
    ...route,
    request: { ...route.request, headers: z.object(idempotencyKeyHeader) },
    responses: { ...problemsOnly(409, 422), ...withReplayedHeader(route.responses) },
  };
  const process = handler as unknown as (c: Context<AppEnv>, next: Next) => Promise<Response>;
  const made = rawOperation(repeatable, (c) => {
    const key = c.req.header('Idempotency-Key');
    return key === undefined
      ? process(c, endOfChain)
      : answerOnce(adapters, c, key, () => process(c, endOfChain));
  });
  return made as unknown as Operation<R>;
}

function withReplayedHeader(responses: RouteConfig['responses']): RouteConfig['responses'] {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => {
      const isSent = status.startsWith('2') && 'content' in response;
      return [
        status,
        isSent ? { ...response, headers: { ...replayedHeader, ...(response.headers as object) } } : response,
      ];
    }),
  ) as RouteConfig['responses'];
}

async function answerOnce(
  { idempotency, secrets, logger }: IdempotencyAdapters,
  c: Context<AppEnv>,
  key: string,
  process: () => Promise<Response>,
): Promise<Response> {
  const { idOrg } = c.get('principal');
  const { search } = new URL(c.req.url);
  const requestHash = await sha256Hex(`${c.req.method} ${c.req.path}${search}\n${await bodyText(c)}`);
  const begun = await idempotency.begin({ idOrg, key, requestHash }, leaseMs);
  if ('answer' in begun) return replay(c, JSON.parse(await secrets.open(begun.answer)) as StoredAnswer);

  const { hold } = begun;
  const warn = (error: unknown): void =>
    logger.warn('the idempotency key could not be updated', {
      request_id: c.get('requestId'),
      error: String(error),
    });
  const renewing = setInterval(() => void idempotency.extend(hold, leaseMs).catch(warn), renewMs);
  try {
    const response = await process();
    // the work is done: a key that cannot be settled must not turn it into an error
    await settle(response, hold).catch(warn);
    return response;
  } catch (error) {
    await idempotency.release(hold).catch(warn);
    throw error;
  } finally {
    clearInterval(renewing);
  }

  async function settle(response: Response, held: KeyHold): Promise<void> {
    const kept = keptHeaders.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const answer: StoredAnswer = {
      status: response.status,
      headers: Object.fromEntries(kept),
      body: await response.clone().text(),
    };
    await idempotency.settle(held, await secrets.seal(JSON.stringify(answer)));
  }
}

function replay(c: Context<AppEnv>, { status, headers, body }: StoredAnswer): Response {
  setReplayed(c);
  return c.body(body, status as 200 | 201, { ...headers });
}
