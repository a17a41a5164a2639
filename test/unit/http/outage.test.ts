/** Answers while the database is away. */
import { expect, it } from 'vitest';
import { isOutage } from '../../../src/errors.ts';
import { createTestApp } from '../../support/memory/adapters.ts';

it('a database that does not answer is 503 with Retry-After, not 500', async () => {
  const test = await createTestApp();
  const lost = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  Object.assign(test.adapters.jobs, { listJobs: () => Promise.reject(lost) });
  const answer = await test.send('/v2/executions/all');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('Retry-After')).toBe('5');
  expect(await answer.json()).toMatchObject({ code: 'service_unavailable' });
});

const outages = {
  'no connection': ['ECONNREFUSED', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT', '57P01', '08006', '25P03'],
  'no way to the host': ['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EAI_AGAIN'],
  'no room left on the server, or here': ['53100', '53200', '53300', '58030', 'EMFILE'],
  'gave way to another session': ['40001', '40P01'],
};

it.each(Object.entries(outages))('%s is an outage', (_, codes) => {
  for (const code of codes) expect(isOutage(Object.assign(new Error('x'), { code })), code).toBe(true);
});

it.each(['23505', '22P02', '57014', '28P01', 'ENOTFOUND', 'ENOENT', '42501', undefined])(
  '%s is none',
  (code) => {
    expect(isOutage(Object.assign(new Error('x'), { code }))).toBe(false);
  },
);

it('a probe with a key answers while the database that holds the keys is deaf', async () => {
  const test = await createTestApp();
  let lookups = 0;
  const never = (): Promise<never> => {
    lookups += 1;
    return new Promise(() => undefined);
  };
  Object.assign(
    test.adapters.access,
    Object.fromEntries(Object.keys(test.adapters.access).map((name) => [name, never])),
  );
  for (const path of ['/actuator/health/liveness', '/actuator/health/readiness'])
    for (const authorization of ['Bearer svk_abcdefgh_0123456789', 'Basic dTpw', 'Bearer x.y.z']) {
      const answer = await test.app.request(path, { headers: { authorization } });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toEqual({ status: 'UP' });
    }
  expect(lookups).toBe(0);
});
