/** What the reference shows as answers is what a service gives: as `npm run examples` records it. */
import { expect, it } from 'vitest';
import { recordFromServices } from '../../../scripts/examples/services.ts';
import recorded from '../../../src/http/openapi/recorded.json' with { type: 'json' };
import { errorCatalogue } from '../../../src/errors.ts';
import { needs } from '../../support/needs.ts';

/** Members and kinds of values. Numbers that count what the machine has, or how often something was asked for, differ. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item)]));
}

it('are given by a service today', { ...needs('whole run'), timeout: 180_000 }, async () => {
  const now = await recordFromServices();
  expect(shapeOf(now.answers)).toEqual(shapeOf(recorded.answers));
  expect(now.problems).toEqual(recorded.problems);
});

/** Errors of requests that reach no operation. */
const ofServer = new Set(['malformed_request', 'request_timeout', 'method_unknown']);

it('hold each error that an operation ends in', () => {
  expect(Object.keys(recorded.problems).toSorted()).toEqual(
    Object.keys(errorCatalogue)
      .filter((code) => !ofServer.has(code))
      .toSorted(),
  );
});
