/** The time that fetching the sources of a schema may take. */
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LookProcessEnd, type LookProcess } from '../../../src/process/look-processes.ts';
import { fixedLimits } from '../../../src/config/limits.ts';
import type { SchemaCompiler } from '../../../src/ports/processes.ts';
import { createAddressCompiler, type AddressedSources } from '../../../src/runtime/fetching-compiler.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('ends the process that does not answer in time, and gives its place back', async () => {
  const events: string[] = [];
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<unknown>();
  const process: Pick<LookProcess, 'ask' | 'release'> = {
    ask: () => {
      asked.resolve(undefined);
      return answer.promise;
    },
    release: () => {
      events.push('released');
      answer.reject(new LookProcessEnd(null));
    },
  };
  const options = {
    adapters: {},
    sources: [],
    allowedHosts: [],
    directory: tmpdir(),
    maxBytes: 1000,
    processes: { take: async () => process },
    turns: { take: async () => () => events.push('turn over') },
  };
  const compiler = createAddressCompiler(
    options as unknown as AddressedSources,
    {} as unknown as SchemaCompiler,
  );
  const [sources, ...none] = [
    { idOrg: 1, xsd: ['https://drip.example/a.xsd'], xml: [] },
    undefined,
    undefined,
  ] as unknown as Parameters<SchemaCompiler['compile']>;
  const compiled = compiler.compile(sources, ...none);
  const failure = compiled.catch((error: unknown) => error);
  await asked.promise;
  vi.advanceTimersByTime(fixedLimits.schemaFetchMs - 1);
  expect(events).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(await failure).toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('cannot be fetched within 30 s') as string,
  });
  expect(events).toEqual(['released', 'released', 'turn over']);
});
