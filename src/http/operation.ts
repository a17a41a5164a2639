/** Defines routes with their handlers, ordered so that a literal path always takes precedence over its `{id}` sibling. */
import { OpenAPIHono, type RouteConfig, type RouteHandler, type z } from '@hono/zod-openapi';
import type { Context, MiddlewareHandler } from 'hono';
import { closestWord } from '../engine/closest-word.ts';
import { AppError, type ErrorDetail } from '../errors.ts';
import { uploadTokenSchemeName } from './auth.ts';
import { announce, deprecationOf, describeDeprecation } from './deprecation.ts';
import type { AppEnv } from './env.ts';
import { conditional, tagHeader } from './validators.ts';
import { negotiate, Problem } from './problem.ts';
import { createSlots, type Slots } from '../service/transfer/run-transfer.ts';

/** A GET marked so changes something, and is not to be run for HEAD. */
export const effectfulGet = { 'x-effectful': true } as const;

export interface Operation<R extends RouteConfig = RouteConfig> {
  readonly route: R;
  // The handler's type follows from its route; a list of operations can only hold the general form.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly handler: any;
}

export function operation<R extends RouteConfig>(route: R, handler: RouteHandler<R, AppEnv>): Operation<R> {
  return { route, handler };
}

/** Defines answers that Zod's types do not describe: several media types, or one chosen at run time. */
export function rawOperation<R extends RouteConfig>(
  route: R,
  handler: (c: Parameters<RouteHandler<R, AppEnv>>[0]) => Response | Promise<Response>,
): Operation<R> {
  return { route, handler };
}

interface JsonContent<S extends z.ZodType> {
  description: string;
  content: { 'application/json': { schema: S } };
}

/** A JSON answer of a route definition. */
export function json<S extends z.ZodType>(schema: S, description: string): JsonContent<S> {
  return { description, content: { 'application/json': { schema } } };
}

/** A status that the API lists and that is never sent. */
export const notSent = { description: 'Not used.' } as const;

/** Describes an answer whose body is not part of the API: the text beside the status is meant for people. */
export function undeclared(description: string): { description: string } {
  return { description };
}

/** The answers of an operation that removes a resource. */
export const removed = {
  200: notSent,
  204: { description: 'It is gone.' },
} as const;

export interface ProblemContent {
  description: string;
  content: { 'application/problem+json': { schema: typeof Problem } };
}

const meanings: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'A valid key is needed.',
  403: 'The key may not do this, or the operation is switched off.',
  404: 'It does not exist, or belongs to another organisation.',
  406: 'None of the accepted media types can be given.',
  409: 'Not in the present state.',
  413: 'The body is over its limit.',
  415: 'The media type of the body is not understood.',
  416: 'There is nothing in that range.',
  422: 'The request is valid but cannot be carried out.',
  429: 'Too many requests; see Retry-After.',
  431: 'The URL and the headers are over their limit.',
  500: 'Unexpected fault.',
  501: 'Not possible in this runtime.',
  503: 'Not possible now; try again.',
};

function problem(status: number): ProblemContent {
  return { description: meanings[status]!, content: { 'application/problem+json': { schema: Problem } } };
}

/** The statuses that every operation with a key lists, and those given. */
export function problems<const S extends number = never>(
  ...more: S[]
): Record<S | 401 | 403 | 404 | 429 | 500 | 503, ProblemContent> {
  return problemsOnly<S | 401 | 403 | 404 | 429 | 500 | 503>(401, 403, 404, 429, 500, 503, ...more);
}

export function problemsOnly<const S extends number>(...statuses: S[]): Record<S, ProblemContent> {
  const sorted = [...new Set(statuses)].toSorted((a, b) => a - b);
  return Object.fromEntries(sorted.map((status) => [status, problem(status)])) as Record<S, ProblemContent>;
}

/**
 * Registers operations path by path, the most literal path first. After each path's operations comes the answer 405 for every other
 * method, so that no less literal path handles them.
 */
export function createGroup<const O extends readonly Operation[]>(operations: O) {
  const group = new OpenAPIHono<AppEnv>({ defaultHook: refuseInvalid });
  const byPath = Map.groupBy(operations, ({ route }) => route.path);
  for (const path of [...byPath.keys()].toSorted(compareLiteralFirst)) {
    const ofPath = byPath.get(path)!;
    const allow = allowOf(ofPath);
    for (const { route, handler } of ofPath) {
      const checked = withChecks(route);
      group.openapi(
        'x-effectful' in route ? { ...checked, middleware: withoutHead(checked, allow) } : checked,
        handler,
      );
    }
    group.all(routingPath(path), () => {
      throw methodNotAllowed(allow);
    });
  }
  return group as unknown as ReturnType<typeof group.openapiRoutes<O>>;
}

/** Runs before the key is looked at: HEAD would run the handler of GET. */
function withoutHead(route: RouteConfig, allow: string): MiddlewareHandler<AppEnv>[] {
  const refuseHead: MiddlewareHandler<AppEnv> = async (c, next) => {
    if (c.req.method === 'HEAD') throw methodNotAllowed(allow);
    await next();
  };
  return [refuseHead, ...([route.middleware ?? []].flat() as MiddlewareHandler<AppEnv>[])];
}

/**
 * Adds the checks that all operations share, after those of the key and the body: unknown query parameters (400), an `Accept` that
 * excludes every media type of the answer (406), the tag of a conditional GET, and the announcement of a deprecation.
 */
function withChecks(defined: RouteConfig): RouteConfig {
  const deprecation = deprecationOf(defined);
  const route = deprecation === undefined ? defined : describeDeprecation(defined, deprecation);
  const announcing = deprecation === undefined ? [] : [announce(deprecation)];
  const checks: MiddlewareHandler<AppEnv>[] = [];
  // an upload reports a wrong token before any other fault, so its handler checks the parameters
  if (!(route.security ?? []).some((scheme) => uploadTokenSchemeName in scheme)) {
    const known = queryParametersOf(route);
    checks.push((c, next) => {
      refuseUnknownParameters(c, known);
      return next();
    });
  }
  const offered = negotiable(route);
  if (offered.length > 0) {
    checks.push((c, next) => {
      acceptedType(c, offered);
      return next();
    });
  }
  const isConditional = 'x-conditional' in route;
  if (isConditional) checks.push(conditional);
  return {
    ...route,
    middleware: [
      ...announcing,
      ...([route.middleware ?? []].flat() as MiddlewareHandler<AppEnv>[]),
      ...checks,
    ],
    responses: {
      ...problemsOnly(400, ...(offered.length > 0 ? [406] : [])),
      ...withContentOfBoth(isConditional ? withTags(route.responses) : route.responses),
    },
  };
}

/**
 * Gives 200 and 201 the same content if the API lists both and only one of them is sent: generators of clients take the content of
 * either.
 */
function withContentOfBoth(responses: RouteConfig['responses']): RouteConfig['responses'] {
  const [ok, created] = [responses[200], responses[201]];
  if (ok === undefined || created === undefined) return responses;
  const sent = 'content' in ok ? ok : created;
  const both = (own: object) => ({ ...sent, ...own }) as RouteConfig['responses'][string];
  return { ...responses, 200: both(ok), 201: both(created) };
}

/** The answers of a conditional GET. */
function withTags(responses: RouteConfig['responses']): RouteConfig['responses'] {
  const whole = responses[200] as { readonly headers?: object };
  return {
    ...responses,
    200: { ...whole, headers: { ...whole.headers, ...tagHeader } } as RouteConfig['responses'][string],
    304: { description: 'Not changed since the answer whose tag `If-None-Match` names.', headers: tagHeader },
  };
}

/** Returns the names of the query parameters that a route declares. */
export function queryParametersOf({ request, parameters = [] }: Pick<RouteConfig, 'request' | 'parameters'>) {
  const query = request?.query;
  const validated = query !== undefined && 'shape' in query ? Object.keys(query.shape as object) : [];
  const others = parameters.flatMap((one) => ('in' in one && one.in === 'query' ? [one.name] : []));
  return [...validated, ...others];
}

/** AppError `invalid_parameter` if the query has parameters other than `known` and those of the host's sign-in. */
export function refuseUnknownParameters(c: Context<AppEnv>, known: readonly string[]): void {
  const { searchParams } = new URL(c.req.url);
  if (searchParams.size === 0) return;
  const host = (c.get('hostParameters') as readonly string[] | undefined) ?? [];
  const unknown = [...new Set(searchParams.keys())].filter(
    (name) => !known.includes(name) && !host.includes(name),
  );
  if (unknown.length === 0) return;
  const errors = unknown.map((name) => ({
    pointer: `/query/${escapeStep(name)}`,
    detail: `is not a parameter of this operation; ${suggestion(name, known)}`,
  }));
  throw invalidRequest('invalid_parameter', errors, '/query');
}

function suggestion(name: string, known: readonly string[]): string {
  const closest = closestWord(name, known);
  if (closest !== null) return `did you mean ${closest}?`;
  return known.length === 0 ? 'it has none in the query' : `its query parameters are ${known.join(', ')}`;
}

/** Returns the media types among which `Accept` chooses: those of answers to GET below /v2, where no type is a default for all. */
function negotiable({ method, path, responses }: RouteConfig): readonly string[] {
  if (method !== 'get' || !path.startsWith('/v2/')) return [];
  const content = 200 in responses ? (responses[200] as { readonly content?: object }).content : undefined;
  return Object.keys(content ?? {}).map(bareType);
}

function bareType(mediaType: string): string {
  return mediaType.replace(/;.*$/, '').trim();
}

/** Returns the media type of `offered` that `Accept` prefers. AppError `not_acceptable` if it excludes all of them. */
export function acceptedType<T extends string>(c: Context<AppEnv>, offered: readonly T[]): T {
  const type = negotiate(c.req.header('Accept'), offered.map(bareType));
  const chosen = offered.find((one) => bareType(one) === type);
  if (chosen !== undefined) return chosen;
  throw new AppError(
    'not_acceptable',
    `Accept excludes every media type of this answer: ${offered.map(bareType).join(', ')}`,
  );
}

function methodNotAllowed(allow: string): AppError {
  return new AppError('method_not_allowed', `this path has ${allow} only`, { headers: { Allow: allow } });
}

function allowOf(operations: readonly Operation[]): string {
  const methods = new Set(operations.map(({ route }) => route.method.toUpperCase()));
  if (operations.some(({ route }) => route.method === 'get' && !('x-effectful' in route)))
    methods.add('HEAD');
  return [...methods].join(', ');
}

function routingPath(path: string): string {
  return path.replaceAll(/\/{(.+?)}/g, '/:$1');
}

function compareLiteralFirst(a: string, b: string): number {
  const left = a.split('/');
  const right = b.split('/');
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const byKind = Number(left[at]!.startsWith('{')) - Number(right[at]!.startsWith('{'));
    if (byKind !== 0) return byKind;
  }
  return left.length - right.length;
}

/** First steps of pointers, by the part of the request that a validator checks; a pointer into the body has none. */
const pointerPrefixes: Readonly<Record<string, string>> = {
  param: '/path',
  query: '/query',
  header: '/header',
};

type ValidationResult = { readonly target: string } & (
  | { readonly success: true }
  | { readonly success: false; readonly error: Pick<z.core.$ZodError, 'issues'> }
);

/** Throws the faults that a validator found as one problem. */
export function refuseInvalid(result: ValidationResult): void {
  if (result.success) return;
  const prefix = pointerPrefixes[result.target] ?? '';
  const errors = result.error.issues.flatMap((issue): ErrorDetail[] => {
    const pointer = `${prefix}${issue.path.map((step) => `/${escapeStep(String(step))}`).join('')}`;
    if (issue.code !== 'unrecognized_keys') return [{ pointer, detail: lowerFirst(issue.message) }];
    return issue.keys.map((key) => ({
      pointer: `${pointer}/${escapeStep(key)}`,
      detail: 'is not a member of this object',
    }));
  });
  throw invalidRequest(result.target === 'json' ? 'invalid_body' : 'invalid_parameter', errors, prefix);
}

/** One error for all faults; `prefix` is what their pointers begin with. */
function invalidRequest(
  code: 'invalid_body' | 'invalid_parameter',
  errors: readonly ErrorDetail[],
  prefix: string,
): AppError {
  const first = errors[0];
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  const detail =
    first === undefined
      ? 'the request is wrong in form'
      : `${nameOf(first.pointer.slice(prefix.length), prefix === '')} ${first.detail}${more}`;
  return new AppError(code, detail, { errors });
}

/** RFC 6901 */
function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Returns the name of the wrong place in the sentence of the problem: a pointer into the body, or the name of a parameter. */
function nameOf(pointer: string, inBody: boolean): string {
  if (pointer === '') return 'the body';
  const name = inBody ? pointer : pointer.slice(1);
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

// `Prefer: wait=N` (RFC 7240 §4.3).

/** longest wait, in seconds: intermediaries may close a connection that is silent for longer */
export const longestWait = 60;

/**
 * Returns the seconds that the client would wait, at most `longestWait`, or null if it states none. Invalid preferences are ignored
 * (RFC 7240 §2), and the first of two applies.
 */
export function preferredWait(header: string | undefined): number | null {
  for (const preference of (header ?? '').split(',')) {
    const found = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;|$)/i.exec(preference);
    if (found !== null) return Math.min(Number(found[1]), longestWait);
  }
  return null;
}

// Limits the long maps, diagrams and scripts that are rendered at once for one organisation in this process.

/** Limits renderings: each takes some hundred megabytes and seconds. */
export function createRenderings(): Slots {
  return createSlots({ running: 1, waiting: 20, what: 'maps, diagrams and scripts' });
}
