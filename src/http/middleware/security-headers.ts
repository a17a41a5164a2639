/** Security headers of every answer. */
import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from '../env.ts';

const always: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Headers that a handler may set itself, because its answer is a page or may be cached. */
const unlessSet: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

export const securityHeaders: MiddlewareHandler<AppEnv> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(always)) c.res.headers.set(name, value);
  for (const [name, value] of Object.entries(unlessSet)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
};
