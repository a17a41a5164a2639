/**
 * A pool that delegates to the database client of the current request: edge runtimes do not let a connection serve two requests, but
 * the application and its stores are made once.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sql } from './connect.ts';

export interface RequestSql {
  /** usable within `run` alone */
  readonly sql: Sql;
  /** Runs `work` with a client of its own; `end` closes it, once nothing of the request uses it any more. */
  run<T>(work: (end: () => Promise<void>) => T): T;
}

export function createRequestSql(connect: () => Sql): RequestSql {
  const present = new AsyncLocalStorage<Sql>();
  const client = (): Sql => {
    const sql = present.getStore();
    if (sql === undefined) throw new Error('a query outside of every request');
    return sql;
  };
  const sql = new Proxy((() => undefined) as unknown as Sql, {
    apply: (_target, _self, given: unknown[]) =>
      (client() as unknown as (...given: unknown[]) => unknown)(...given),
    get: (_target, name) => {
      const current = client();
      const member = current[name as keyof Sql] as unknown;
      return typeof member === 'function' ? member.bind(current) : member;
    },
  });
  return {
    sql,
    run: (work) => {
      const own = connect();
      return present.run(own, work, () => own.end({ timeout: 5 }));
    },
  };
}
