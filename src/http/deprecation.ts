/** Deprecated operations: they announce their end in the OpenAPI document and in each answer (docs/reference/deprecation.md). */
import type { RouteConfig } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from './env.ts';

export interface Deprecation {
  /** day since which the operation is deprecated, `2027-03-01` */
  readonly since: string;
  /** day after which it may be removed; at least a year later */
  readonly until: string;
  /** sentence that names the replacement */
  readonly instead: string;
}

const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * The members to spread into the definition of a deprecated route. Throws Error if the days are not a year apart. `createGroup` adds the
 * rest.
 */
export function deprecated(deprecation: Deprecation) {
  const [since, until] = [Date.parse(deprecation.since), Date.parse(deprecation.until)];
  if (!(until - since >= yearMs))
    throw new Error(
      `deprecated on ${deprecation.since}, so it may end a year later, not on ${deprecation.until}`,
    );
  return { deprecated: true, 'x-deprecation': deprecation } as const;
}

/** Returns the deprecation of a route; undefined if it has none. */
export function deprecationOf(route: RouteConfig): Deprecation | undefined {
  return 'x-deprecation' in route ? (route['x-deprecation'] as Deprecation) : undefined;
}

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) of every answer, errors included. */
export function announce({ since, until }: Deprecation): MiddlewareHandler<AppEnv> {
  const [deprecation, sunset] = [`@${Date.parse(since) / 1000}`, new Date(until).toUTCString()];
  return async (c, next) => {
    c.header('Deprecation', deprecation);
    c.header('Sunset', sunset);
    await next();
  };
}

/** Adds the announcement to the description of a route, and the headers to its answers. */
export function describeDeprecation<R extends RouteConfig>(route: R, deprecation: Deprecation): R {
  const { since, until, instead } = deprecation;
  const headers = {
    Deprecation: {
      description: 'The time since which the operation is deprecated, in seconds (RFC 9745).',
      schema: { type: 'string' as const },
      example: `@${Date.parse(since) / 1000}`,
    },
    Sunset: {
      description: 'The time after which the operation may be removed (RFC 8594).',
      schema: { type: 'string' as const },
      example: new Date(until).toUTCString(),
    },
  };
  return {
    ...route,
    description:
      `Deprecated since ${since}, and may be removed after ${until}. ${instead} ${route.description ?? ''}`.trim(),
    responses: Object.fromEntries(
      Object.entries(route.responses).map(([status, response]) => [
        status,
        { ...response, headers: { ...(response as { readonly headers?: object }).headers, ...headers } },
      ]),
    ),
  };
}
