/** Deliveries from an outbox in memory: one event that nobody can read holds up no other. */
import { expect, it } from 'vitest';
import { createEventDelivery, webhookBody } from '../../../../src/service/events/deliver.ts';
import type { StoredEvent } from '../../../../src/ports/stores/event-outbox.ts';
import { exampleJob } from '../../../../src/http/routes/job-shapes.ts';

const stored = (idEvent: number, job: string): StoredEvent => ({
  idEvent,
  idOrg: 1,
  message: '0b6a9d4e-55a1-4b3e-8f0c-2f6d7c1e9a10',
  moment: 'ended',
  job,
  occurred: 1790000001301,
  attempt: 1,
});

const jobRecord = { ...exampleJob, trace_id: '4bf92f3577b34da6a3ce929d0e0e4736' };

const nothing = (): void => undefined;

interface Told {
  readonly failed: unknown[][];
  readonly delivered: number[];
}

/** Delivers by `send` until so many events were taken or have failed. */
async function deliverAll(
  events: readonly StoredEvent[],
  send: (body: string) => Promise<Response>,
): Promise<Told> {
  let waiting = events;
  const told: Told = { failed: [], delivered: [] };
  const ended = Promise.withResolvers<void>();
  const count = (): void => {
    if (told.failed.length + told.delivered.length === events.length) ended.resolve();
  };
  const delivery = createEventDelivery({
    outbox: {
      recordKinds: async () => undefined,
      release: async () => undefined,
      claimEvents: async () => {
        const claimed = waiting;
        waiting = [];
        return claimed;
      },
      delivered: async (idEvent) => {
        told.delivered.push(idEvent);
        count();
      },
      failed: async (...given) => {
        told.failed.push(given);
        count();
      },
    },
    guard: { checkUrl: async () => ({}) } as never,
    http: {
      send: (_: unknown, { body }: { body: Uint8Array }) => send(new TextDecoder().decode(body)),
    } as never,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing } as never,
    receivers: [
      {
        kind: 'webhook',
        url: new URL('https://receiver/hooks'),
        render: async (event) => ({ headers: {}, body: webhookBody(event) }),
      },
    ],
    maxAttempts: 3,
    retryMs: 1,
  });
  delivery.start();
  await ended.promise;
  await delivery.stop();
  return told;
}

it('gives up an event whose record is none, by itself, and delivers the others as they are stored', async () => {
  const later = { ...jobRecord, id_job: 8, of_a_later_version: [1] };
  const bodies: unknown[] = [];
  const { failed, delivered } = await deliverAll(
    [
      stored(1, '{"id_job":'),
      stored(2, JSON.stringify({ ...jobRecord, status: 'c4n4ry' })),
      stored(3, JSON.stringify(jobRecord)),
      stored(4, JSON.stringify(later)),
    ],
    async (body) => {
      bodies.push(JSON.parse(body));
      return new Response(null, { status: 204 });
    },
  );
  expect(failed).toEqual([
    [1, expect.stringMatching(/^the stored event: /), null],
    [2, expect.stringMatching(/^the stored event\/status: (?!.*c4n4ry)/), null],
  ]);
  expect(delivered.toSorted()).toEqual([3, 4]);
  expect(bodies.map((body) => (body as { data: unknown }).data)).toEqual(
    expect.arrayContaining([jobRecord, later]),
  );
});

it.each([
  ['fetch', new DOMException('The operation was aborted due to timeout', 'TimeoutError')],
  [
    'node:http',
    Object.assign(new Error('The operation was aborted'), { code: 'ABORT_ERR', name: 'AbortError' }),
  ],
])('tells in words that a receiver is too slow, as %s says it', async (_, error) => {
  const { failed } = await deliverAll([stored(1, JSON.stringify(jobRecord))], () => Promise.reject(error));
  expect(failed).toEqual([[1, 'no answer in time', expect.any(Number)]]);
});

it('delivers the events of an organisation while the receiver is slow for those of others', async () => {
  const waiting = [1, 2, 3, 4, 5, 6, 7].flatMap((idOrg) =>
    Array.from({ length: 20 }, (_, at) => ({
      ...stored(idOrg * 100 + at, JSON.stringify({ ...jobRecord, id_job: idOrg * 100 + at, id_org: idOrg })),
      idOrg,
    })),
  );
  const delivered: number[] = [];
  const slow = Promise.withResolvers<Response>();
  const done = Promise.withResolvers<void>();
  let most = 0;
  let open = 0;
  const delivery = createEventDelivery({
    outbox: {
      recordKinds: async () => undefined,
      release: async () => undefined,
      failed: async () => undefined,
      claimEvents: async (_, limit, __, shares = { without: [], served: [] }) => {
        const orgs = [...new Set(waiting.map(({ idOrg }) => idOrg))].filter(
          (idOrg) => !shares.without.includes(idOrg),
        );
        const [next] = orgs.toSorted((a, b) => shares.served.indexOf(a) - shares.served.indexOf(b));
        const claimed = waiting.filter(({ idOrg }) => idOrg === next).slice(0, limit);
        for (const event of claimed) waiting.splice(waiting.indexOf(event), 1);
        return claimed;
      },
      delivered: async (idEvent) => {
        delivered.push(idEvent);
        if (delivered.length === 20) done.resolve();
      },
    },
    guard: { checkUrl: async () => ({}) } as never,
    http: {
      send: async (_: unknown, { body }: { body: Uint8Array }) => {
        const { data } = JSON.parse(new TextDecoder().decode(body)) as { data: { id_org: number } };
        if (data.id_org === 7) return new Response(null, { status: 204 });
        open += 1;
        most = Math.max(most, open);
        return slow.promise;
      },
    } as never,
    logger: { debug: nothing, info: nothing, warn: nothing, error: nothing } as never,
    receivers: [
      {
        kind: 'webhook',
        url: new URL('https://receiver/hooks'),
        render: async (event) => ({ headers: {}, body: webhookBody(event) }),
      },
    ],
    maxAttempts: 3,
    retryMs: 1,
  });
  delivery.start();
  await done.promise;
  expect(delivered.every((idEvent) => idEvent >= 700)).toBe(true);
  // a batch of each of the others
  expect(most).toBeLessThanOrEqual(6 * 8);
  slow.resolve(new Response(null, { status: 204 }));
  await delivery.stop();
});
