/** Content negotiation. */
import { describe, expect, it } from 'vitest';
import { negotiate } from '../../../src/http/problem.ts';

describe('negotiate', () => {
  const offered = ['application/json', 'text/plain', 'text/event-stream'] as const;

  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'text/plain'],
    ['TEXT/PLAIN', 'text/plain'],
    ['text/plain; charset=utf-8', 'text/plain'],
    ['text/event-stream', 'text/event-stream'],
    ['application/json;q=0.1, text/event-stream;q=0.2', 'text/event-stream'],
    ['text/event-stream, */*;q=0.1', 'text/event-stream'],
    ['*/*, text/plain', 'text/plain'],
    ['*/*, application/json;q=0', 'text/plain'],
    ['image/png', null],
    ['application/json;q=0', null],
    [',,;q=1', null],
  ])('%j gives %j', (header, type) => {
    expect(negotiate(header, offered)).toBe(type);
  });
});
