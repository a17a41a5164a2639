import { expect, it } from 'vitest';
import { isOutage } from '../../../src/errors.ts';
import { createTestApp } from '../../support/memory-adapters.ts';

it('a database that does not answer is 503 with Retry-After, not 500', async () => {
  const test = await createTestApp();
  const lost = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  Object.assign(test.adapters.jobs, { list: () => Promise.reject(lost) });
  const answer = await test.send('/v2/executions/all');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('Retry-After')).toBe('5');
  expect(await answer.json()).toMatchObject({ code: 'service_unavailable' });
});

it.each(['ECONNREFUSED', 'CONNECTION_CLOSED', 'CONNECT_TIMEOUT', '57P01', '08006', '53300'])(
  '%s is an outage',
  (code) => {
    expect(isOutage(Object.assign(new Error('x'), { code }))).toBe(true);
  },
);

it.each(['23505', 'ENOENT', '42501', undefined])('%s is none', (code) => {
  expect(isOutage(Object.assign(new Error('x'), { code }))).toBe(false);
});
