/** Where the application stands, as its clients see it. */
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from './env.ts';

/** Remembers the path that a host has taken off the requests. */
export function behind(basePath: string): MiddlewareHandler<AppEnv> {
  const prefix = basePath.replace(/\/+$/, '');
  return async (c, next) => {
    c.set('basePath', prefix);
    await next();
  };
}

/** Path of the present request, with all that stands in front of the application. */
export function clientPath(c: Context): string {
  const prefix = (c.get('basePath') as string | undefined) ?? '';
  return prefix + c.req.path;
}
