/** The application's own address, as its clients see it behind hosts and proxies. */
import type { Context, MiddlewareHandler } from 'hono';
import type { AppEnv } from '../env.ts';

/** Records the prefix that a host has stripped from the requests. */
export function behind(basePath: string): MiddlewareHandler<AppEnv> {
  const prefix = basePath.replace(/\/+$/, '');
  return async (c, next) => {
    c.set('basePath', prefix);
    await next();
  };
}

/** Returns the path of the current request, including the prefix of the application. */
export function clientPath(c: Context): string {
  const prefix = (c.get('basePath') as string | undefined) ?? '';
  return prefix + c.req.path;
}

/** Route and path of the current request as the API names them, without a host's prefix. */
export interface OwnAddress {
  readonly route: string;
  readonly path: string;
}

/** Returns the address of an operation that needs a key. `route` is the pattern that matched the request, including the host's prefix. */
export function ownAddress(route: string, path: string): OwnAddress {
  // a host's prefix may contain a part with such a name; the paths of operations contain none after their first segment
  const own = route.replace(/^.*(?=\/(?:v2|actuator)\/)/, '');
  const before = route.slice(0, route.length - own.length).split('/').length;
  return { route: own, path: `/${path.split('/').slice(before).join('/')}` };
}
