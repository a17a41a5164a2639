/** Errors as in the API (RFC 9457), and the choice of an answer's media type. Only this file maps error codes to status codes. */
import { z } from '@hono/zod-openapi';
import type { Context, ErrorHandler } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, errorCatalogue, isOutage, type ErrorCode, type ErrorDetail } from '../errors.ts';
import { fixedLimits } from '../config/limits.ts';
import type { Clock, Logger } from '../ports/environment.ts';
import { clientPath, rootReference } from './auth.ts';
import type { AppEnv } from './env.ts';
import { parseAccept } from 'hono/utils/accept';

/** The wire form of a record: the same JSON, without the `readonly` that Zod's types do not carry. */
type Wire<T> = T extends readonly (infer Item)[]
  ? Wire<Item>[]
  : T extends object
    ? { -readonly [Member in keyof T]: Wire<T[Member]> }
    : T;

/** Types only: nothing is copied. */
export function wire<T>(value: T): Wire<T> {
  return value as Wire<T>;
}

/** The status code of each error code. */
export const statusOf: Readonly<Record<ErrorCode, ContentfulStatusCode>> = {
  invalid_parameter: 400,
  invalid_body: 400,
  malformed_json: 400,
  missing_body: 400,
  malformed_request: 400,
  unknown_option: 400,
  invalid_option: 400,
  path_not_allowed: 400,
  input_not_found: 400,
  target_not_allowed: 400,
  unauthorized: 401,
  invalid_upload_token: 401,
  forbidden: 403,
  commands_disabled: 403,
  host_not_allowed: 403,
  target_not_owned: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  job_not_terminal: 409,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  idempotency_key_reused: 422,
  unprocessable_input: 422,
  too_many_requests: 429,
  headers_too_large: 431,
  internal_error: 500,
  method_unknown: 501,
  runtime_unsupported: 501,
  service_unavailable: 503,
};

/** Reason phrases of RFC 9110, as clients of the original framework read them in `error`. */
const reasonOf: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
};

const ProblemLocation = z.object({ pointer: z.string(), detail: z.string() }).openapi('ProblemPlace', {
  description:
    'One wrong place: a JSON pointer into the body, or `/path/…`, `/query/…`, `/header/…`, and what is wrong there.',
  example: { pointer: '/path/id', detail: 'must be an integer from 0 to 9223372036854775807' },
});

export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string(),
    help: z.string(),
    errors: z.array(ProblemLocation),
    timestamp: z.string(),
    error: z.string(),
    path: z.string(),
    request_id: z.string(),
  })
  .openapi('Problem', {
    description:
      'RFC 9457 problem details. `code` is the stable name of the fault, `errors` the places it was found at.',
    example: {
      type: 'urn:svc:problem:invalid_parameter',
      title: 'A parameter is out of form or range',
      status: 400,
      detail: 'id must be an integer from 0 to 9223372036854775807',
      instance: '/v2/executions/get/x',
      code: 'invalid_parameter',
      help: '../../../doc/problems/invalid_parameter',
      errors: [{ pointer: '/path/id', detail: 'must be an integer from 0 to 9223372036854775807' }],
      timestamp: '2026-09-21T14:13:21.301+00:00',
      error: 'Bad Request',
      path: '/v2/executions/get/x',
      request_id: '6b0f6f4e-0c5c-4a55-9d5c-3c8b9a7f1d10',
    },
  });

/** ISO 8601 with a numeric offset, the form that the original framework writes. */
export function isoTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '+00:00');
}

function reasonPhrase(status: number): string {
  return reasonOf[status] ?? 'None';
}

/** The URN of an error code. */
export function problemType(code: ErrorCode): string {
  return `urn:svc:problem:${code}`;
}

interface ProblemFacts {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors?: readonly ErrorDetail[];
}

/** The problem document of one error. `root`: reference to the root of the application from the address of the request. */
export function problemBody(
  { code, detail, errors = [] }: ProblemFacts,
  request: {
    readonly path: string;
    readonly root: string;
    readonly requestId: string;
    readonly nowMs: number;
  },
): z.infer<typeof Problem> {
  const status = statusOf[code];
  return {
    type: problemType(code),
    title: errorCatalogue[code].title,
    status,
    detail,
    instance: request.path,
    code,
    help: `${request.root}doc/problems/${code}`,
    errors: errors
      .slice(0, fixedLimits.problemErrors)
      .map(({ pointer, detail: what }) => ({ pointer, detail: what })),
    timestamp: isoTimestamp(request.nowMs),
    error: reasonPhrase(status),
    path: request.path,
    request_id: request.requestId,
  };
}

/** The answer for one error. */
export function problemResponse(
  c: Context<AppEnv>,
  clock: Clock,
  problem: ProblemFacts,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const body = problemBody(problem, {
    path: clientPath(c),
    root: rootReference(c),
    requestId: c.get('requestId'),
    nowMs: clock.nowMs(),
  });
  return c.body(JSON.stringify(body), statusOf[problem.code], {
    ...headers,
    'Content-Type': 'application/problem+json',
  });
}

/** Returns the application's `onError`: known errors become their problem, all others 500 with the request id only. */
export function createErrorHandler(clock: Clock, logger: Logger): ErrorHandler<AppEnv> {
  return (error, c) => {
    if (error instanceof AppError && error.code !== 'internal_error') {
      return problemResponse(
        c,
        clock,
        { code: error.code, detail: error.message, errors: error.errors },
        error.headers,
      );
    }
    if (isOutage(error)) {
      logger.warn('outage', {
        request_id: c.get('requestId'),
        trace_id: c.get('trace')?.traceId,
        error: error.message,
      });
      const detail = 'something the service needs does not answer now; try again in a few seconds';
      return problemResponse(c, clock, { code: 'service_unavailable', detail }, { 'Retry-After': '5' });
    }
    const framework = frameworkFault(error);
    if (framework !== null) return problemResponse(c, clock, framework);
    logger.error('unexpected fault', {
      request_id: c.get('requestId'),
      trace_id: c.get('trace')?.traceId,
      method: c.req.method,
      path: clientPath(c),
      error: error.stack ?? String(error),
    });
    return problemResponse(c, clock, {
      code: 'internal_error',
      detail: 'unexpected fault: the request id names its entry in the log of the service',
    });
  };
}

/**
 * Hono and its middleware report faults of the request as HTTPException; it is recognised by its shape, because there may be two copies
 * of Hono.
 */
function frameworkFault(error: Error): { readonly code: ErrorCode; readonly detail: string } | null {
  const status = 'getResponse' in error && 'status' in error ? error.status : null;
  if (status === 400) return { code: 'invalid_parameter', detail: 'the request could not be read' };
  if (status === 413) return { code: 'payload_too_large', detail: 'the body is over its limit' };
  if (status === 415)
    return { code: 'unsupported_media_type', detail: 'the media type of the body is not understood' };
  return null;
}

/** Escaping text for HTML. */
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for an HTML element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

// Content negotiation by `Accept` (RFC 9110 §12.5.1).

function specificity(range: string, type: string): number {
  if (range === type) return 3;
  if (range === '*/*' || range === '*') return 1;
  if (range.endsWith('/*') && type.startsWith(range.slice(0, -1))) return 2;
  // the original framework also understands application/*+json
  const suffix = /^([^/]+\/)\*(\+.+)$/.exec(range);
  if (suffix !== null && type.startsWith(suffix[1]!) && type.endsWith(suffix[2]!)) return 2;
  return 0;
}

/** Whether an answer that is a page for people, or JSON for programs, is to be the page: only who names `text/html` gets it. */
export function wantsHtml(header: string | undefined): boolean {
  return (
    /\btext\/html\b/i.test(header ?? '') &&
    negotiate(header, ['text/html', 'application/json']) === 'text/html'
  );
}

/**
 * The best of `offered` (in the server's order of preference) for an `Accept` header: the highest q, then the more
 * specific range, then the server's order. Without a header the first; null when all are refused.
 */
export function negotiate<T extends string>(header: string | undefined, offered: readonly T[]): T | null {
  if (header === undefined || header.trim() === '') return offered[0] ?? null;
  const ranges = parseAccept(header).map(({ type, q }) => ({ range: type.toLowerCase(), q }));
  let best: { readonly type: T; readonly q: number; readonly specific: number } | null = null;
  for (const type of offered) {
    let match = { q: 0, specific: 0 };
    for (const { range, q } of ranges) {
      const specific = specificity(range, type);
      if (specific > match.specific) match = { q, specific };
    }
    if (match.q === 0) continue;
    if (best === null || match.q > best.q || (match.q === best.q && match.specific > best.specific)) {
      best = { type, ...match };
    }
  }
  return best?.type ?? null;
}
