/** Thousands who follow logs, or send and read slowly, with one key: a running service answers all others, and its probes. */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { eventually } from '../../support/service/waiting.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

interface Opened {
  readonly socket: Socket;
  text: string;
  closed: boolean;
}

/** Its chunked answer has its end, or its connection is closed. */
const ended = ({ closed, text }: Opened): boolean => closed || text.endsWith('\r\n0\r\n\r\n');

describe('who holds many connections', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let idJob: number;
  let opened: Opened[] = [];

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.worker.concurrency': '0' });
    service = await trial.service(home);
    const { jobs } = await service.client.run([
      { app_name: 'xsd2er', source: { file: { command: '.' } }, target: {} },
    ]);
    idJob = jobs[0]!;
  });

  afterEach(() => {
    for (const { socket } of opened) socket.destroy();
    opened = [];
  });
  const restart = async (environment: Record<string, string>): Promise<void> => {
    await service.end('SIGTERM');
    service = await trial.service(home, environment);
  };
  const open = (count: number, head: string): Opened[] => {
    const { hostname, port, host } = new URL(service.url);
    const those = Array.from({ length: count }, () => {
      const socket = connect(Number(port), hostname);
      const one: Opened = { socket, text: '', closed: false };
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => (one.text += chunk.toString('latin1')));
      socket.on('close', () => (one.closed = true));
      socket.write(head.replace('\r\n', `\r\nHost: ${host}\r\n`));
      return one;
    });
    opened.push(...those);
    return those;
  };
  const follow = (count: number, key: string, more = ''): Opened[] =>
    open(
      count,
      `GET /v2/executions/log/${idJob} HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n${more}\r\n`,
    );
  const statuses = (those: readonly Opened[]): string[] =>
    those.map(({ text }) => /^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? '');
  const count = (those: readonly Opened[], status: string): number =>
    statuses(those).filter((one) => one === status).length;
  const newKey = async (): Promise<string> =>
    (await service.client.post<{ key: string }>('/v2/admin/keys', { name: 'more', scopes: ['jobs:read'] }))
      .body.key;
  const othersAreServed = async (key: string): Promise<void> => {
    for (let time = 0; time < 5; time += 1) {
      const headers = { Connection: 'close' };
      for (const path of ['/actuator/health/liveness', '/actuator/health/readiness'])
        expect((await fetch(service.url + path, { headers })).status).toBe(200);
      const asked = await fetch(`${service.url}/v2/executions/all`, {
        headers: { ...headers, Authorization: `Bearer ${key}` },
      });
      expect(asked.status).toBe(200);
    }
  };

  it(
    'a key follows so many logs, an organisation so many with all its keys, and a place is free again at once',
    needs('whole run'),
    async () => {
      // With as many connections as the crowd is large, those of other clients would close some of it.
      await restart({ SVC_LIMITS_REQUEST_BURST: '5000', SVC_LIMITS_CONNECTIONS: '4000' });
      const other = await newKey();
      const crowd = follow(2000, service.key);
      await eventually('all answers', async () => (count(crowd, '') === 0 ? true : null));
      expect([count(crowd, '200'), count(crowd, '429')]).toEqual([20, 1980]);
      const refused = crowd.find(({ text }) => text.startsWith('HTTP/1.1 429'))!;
      expect(refused.text).toMatch(/^retry-after: \d+\r$/im);
      expect(refused.text).toContain('svc.limits.followers_per_key');
      await othersAreServed(other);
      const keys = [other, await newKey(), await newKey(), await newKey(), await newKey()];
      const more = keys.flatMap((key) => follow(20, key));
      await eventually('all answers', async () => (count(more, '') === 0 ? true : null));
      expect([count(more, '200'), count(more, '429')]).toEqual([80, 20]);
      for (const { socket } of crowd) socket.destroy();
      await eventually('a place', async () => {
        const [one] = follow(1, service.key);
        return await eventually('its answer', async () =>
          one!.text === '' ? null : one!.text.startsWith('HTTP/1.1 200') || null,
        );
      });
    },
  );

  it(
    'the oldest gives way where connections run short, cleanly, and resumes',
    needs('whole run'),
    async () => {
      await restart({
        SVC_LIMITS_CONNECTIONS: '100',
        SVC_LIMITS_REQUEST_BURST: '5000',
        SVC_LIMITS_FOLLOWERS_PER_KEY: '5000',
        SVC_LIMITS_FOLLOWERS_PER_ORG: '5000',
      });
      const other = await newKey();
      const [quiet] = follow(1, other);
      await eventually('the first', async () => count([quiet!], '200') || null);
      for (let wave = 0; wave < 10; wave += 1) {
        const those = follow(40, service.key);
        await eventually('all answers', async () => (count(those, '') === 0 ? true : null));
        expect(count(those, '200')).toBe(40);
        await othersAreServed(other);
      }
      const crowd = opened.slice(1);
      await eventually('those before', async () =>
        crowd.slice(0, 300).every(({ closed }) => closed) ? true : null,
      );
      // the end of a chunked answer: nothing was cut off
      expect(crowd.slice(0, 300).filter(({ text }) => text.endsWith('\r\n0\r\n\r\n'))).toHaveLength(300);
      // who holds one is not who gives way
      expect([quiet!.closed, crowd.filter(({ closed }) => !closed).length]).toEqual([false, 89]);
      const [again] = follow(1, service.key, 'Last-Event-ID: 0\r\n');
      await eventually('the resumed one', async () => count([again!], '200') || null);
    },
  );

  it('slow bodies and slow readers make room for others', needs('whole run'), async () => {
    await restart({ SVC_LIMITS_CONNECTIONS: '100', SVC_LIMITS_REQUEST_BURST: '5000' });
    const other = await newKey();
    open(
      300,
      `POST /v2/run/cmd HTTP/1.1\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    );
    await othersAreServed(other);
    for (const { socket } of open(300, 'GET /doc HTTP/1.1\r\nAccept: application/json\r\n\r\n'.repeat(8)))
      socket.pause();
    await othersAreServed(other);
  });

  it('whose key ends no longer reads: streams under way end, and do not begin again', async () => {
    await restart({});
    const { body } = await service.client.post<{ id_key: number; key: string }>('/v2/admin/keys', {
      name: 'short',
      scopes: ['jobs:read'],
    });
    const kept = await newKey();
    const [events, stays] = [follow(1, body.key)[0]!, follow(1, kept)[0]!];
    const [text] = open(
      1,
      `GET /v2/executions/log/${idJob} HTTP/1.1\r\nAuthorization: Bearer ${body.key}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    const streams = [events, text!, stays];
    await eventually('the streams', async () => count(streams, '200') === 3 || null);
    const revoked = await service.client.fetch(`/v2/admin/keys/${body.id_key}`, { method: 'DELETE' });
    expect(revoked.status).toBe(204);
    await eventually('the end of both', async () => (ended(events) && ended(text!)) || null);
    expect(ended(stays)).toBe(false);
    const [again] = follow(1, body.key);
    await eventually('an answer', async () => count([again!], '401') || null);
  });

  it(
    'without a key, neither slow heads nor bodies that do not come keep others from being served',
    needs('whole run'),
    async () => {
      await restart({ SVC_LIMITS_CONNECTIONS: '100' });
      const other = await newKey();
      open(300, 'GET /v2/executions/all HTTP/1.1\r\nAccept: applic');
      await othersAreServed(other);
      for (const path of ['/v2/run/cmd', '/v2/file/upload/xml?token=none&name=a.xml'])
        open(
          200,
          `POST ${path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`,
        );
      await othersAreServed(other);
      const sent = opened.slice(300);
      await eventually(
        'an end of each',
        async () => sent.every((one) => one.closed || one.text !== '') || null,
      );
      // Who gave way before its head was read is closed without a word.
      const refused = sent.filter(({ text }) => text !== '');
      expect(refused).not.toHaveLength(0);
      expect(new Set(statuses(refused))).toEqual(new Set(['401']));
    },
  );
});
