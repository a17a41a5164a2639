/** Bodies over their limits, clients that send too much or too slowly, over HTTP to a running service. */
import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import type { Problem } from '../../support/service/client.ts';
import { eventually } from '../../support/service/waiting.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

const problemOf = async (response: Response): Promise<Problem> => {
  expect(response.headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
  return (await response.json()) as Problem;
};

const chunked = (bytes: number): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes; at += 100)
        controller.enqueue(new Uint8Array(Math.min(100, bytes - at)).fill(0x20));
      controller.close();
    },
  });

describe('attacks on the limits of the interface', { timeout: 60_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;

  beforeAll(async () => {
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.limits.upload': '1000',
      'svc.limits.json_body': '4000',
      'svc.limits.connections': '400',
    });
    service = await trial.service(home);
  });

  const postText = (path: string, body: BodyInit, type = 'application/json') =>
    service.client.fetch(path, { method: 'POST', headers: { 'Content-Type': type }, body });
  const files = async () => (await readdir(join(home.directory, 'files'), { recursive: true })).toSorted();
  /** Sends bytes as they are and answers everything that came back until the other side closed or was silent. */
  const raw = (bytes: string | readonly string[], silentMs = 3000): Promise<string> =>
    new Promise((resolve) => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.setTimeout(silentMs, () => socket.destroy());
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      // cut off is an answer too
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
      const [first = '', ...more] = [bytes].flat();
      socket.write(first);
      // each further piece once something has come back
      socket.on('data', () => void socket.write(more.shift() ?? ''));
    });

  it('7: one byte over a limit, by its length, chunked, and under a false length: 413, and nothing is left', async () => {
    const before = await files();
    const token = async (kind = 'xml', max_bytes?: number) =>
      (
        await service.client.post<{ token: string }>('/v2/file/upload/token', {
          kind,
          ...(max_bytes === undefined ? {} : { max_bytes }),
        })
      ).body.token;
    const upload = async (body: BodyInit, more: RequestInit = {}, max?: number) =>
      fetch(`${service.url}/v2/file/upload/xml?token=${await token('xml', max)}&name=a.xml`, {
        method: 'POST',
        body,
        ...more,
      });
    const half = { duplex: 'half' } as RequestInit;
    expect((await upload(' '.repeat(1001))).status).toBe(413);
    expect((await upload(chunked(1001), half)).status).toBe(413);
    expect((await upload(' '.repeat(11), {}, 10)).status).toBe(413);
    expect((await upload(chunked(11), half, 10)).status).toBe(413);
    expect((await postText('/v2/run/cmd', `{"name":"${' '.repeat(4000)}"}`)).status).toBe(413);
    expect(
      (
        await service.client.fetch('/v2/run/cmd', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: chunked(4001),
          ...half,
        })
      ).status,
    ).toBe(413);
    const host = new URL(service.url).host;
    const head = `POST /v2/file/upload/xml?token=${await token()}&name=x.xml HTTP/1.1\r\nHost: ${host}\r\n`;
    // says less than it sends: what is behind the body is another request, and none that we serve
    expect(await raw(`${head}Content-Length: 4\r\n\r\n<a/>GARBAGE / HTTP/1.1\r\n\r\n`, 1500)).not.toMatch(
      /HTTP\/1\.1 (?:5|200[^]*HTTP\/1\.1 200)/,
    );
    // says both, or a length that is none
    for (const headers of [
      'Content-Length: 4\r\nTransfer-Encoding: chunked',
      'Content-Length: 4\r\nContent-Length: 5',
      'Content-Length: -1',
      'Transfer-Encoding: xchunked',
    ])
      expect([
        headers,
        (await raw(`POST /v2/run/cmd HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n\r\n<a/>`, 1500)).slice(
          0,
          12,
        ),
      ]).toEqual([headers, 'HTTP/1.1 400']);
    // the last answers were given before their uploads were over
    await eventually('no half of an upload', async () =>
      (await files()).some((name) => name.includes('.part-')) ? null : true,
    );
    const left = (await files()).filter(
      (name) => !before.includes(name) && !/^1(\/uploads(\/[0-9a-f]+(\/x\.xml)?)?)?$/.test(name),
    );
    expect(left).toEqual([]);
  });

  it('7: an upload that breaks off leaves nothing, and its token is spent', async () => {
    const { body } = await service.client.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml' });
    const { hostname, port, host } = new URL(service.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname);
      socket.on('close', () => resolve());
      socket.on('error', () => undefined);
      socket.write(
        `POST /v2/file/upload/xml?token=${body.token}&name=broken.xml HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 900\r\n\r\n<a>`,
        () => setTimeout(() => socket.destroy(), 300),
      );
    });
    expect(
      (await fetch(`${service.url}/v2/file/upload/xml?token=${body.token}`, { method: 'POST', body: '<a/>' }))
        .status,
    ).toBe(401);
    const files = await readdir(join(home.directory, 'files'), { recursive: true });
    expect(files.filter((name) => name.includes('.part-') || name.includes('broken'))).toEqual([]);
  });

  it(
    'limits: too many requests of one key are 429 with Retry-After, another key goes on',
    needs('whole run'),
    async () => {
      await service.end('SIGTERM');
      service = await trial.service(home, {
        SVC_LIMITS_REQUESTS_PER_SECOND: '1',
        SVC_LIMITS_REQUEST_BURST: '5',
      });
      const answers = await Promise.all(
        Array.from({ length: 12 }, () => service.client.fetch('/v2/about/org')),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(6);
      expect(Number(refused[0]!.headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
      expect((await problemOf(refused[0]!)).code).toBe('too_many_requests');
      expect((await fetch(`${service.url}/actuator/health`)).status).toBe(200);
      await service.end('SIGTERM');
      service = await trial.service(home);
    },
  );

  it('limits: clients that send their request a byte at a time do not keep others waiting', async () => {
    const { hostname, port, host } = new URL(service.url);
    const { key } = (
      await service.client.post<{ key: string }>('/v2/admin/keys', { name: 'slow', scopes: ['jobs:run'] })
    ).body;
    const slow = Array.from({ length: 300 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.write(
        `POST /v2/run/cmd HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
      );
      return socket;
    });
    try {
      for (let at = 0; at < 20; at += 1)
        expect((await service.client.fetch('/v2/executions/all')).status).toBe(200);
    } finally {
      for (const socket of slow) socket.destroy();
    }
  });

  it('limits: connections that ask nothing, or never finish asking, make room for those that do', async () => {
    const { hostname, port, host } = new URL(service.url);
    const closed = new Set<Socket>();
    const opened = (text: string): Socket => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      socket.on('close', () => closed.add(socket));
      socket.write(text);
      return socket;
    };
    // under way: its answer is to be had, however many come after it
    const { key } = service;
    const slow = opened(
      `POST /v2/run/cmd HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`,
    );
    let answer = '';
    slow.on('data', (chunk) => (answer += chunk.toString('latin1')));
    await eventually('the slow request under way', async () =>
      (await service.client.fetch('/actuator/health')).ok ? true : null,
    );
    const idle = Array.from({ length: 1200 }, (_, at) =>
      opened(at % 2 === 0 ? '\r\n' : `GET /doc HTTP/1.1\r\nHost: ${host}\r\nX: `),
    );
    try {
      await eventually('room', async () => (closed.size >= 800 ? true : null));
      for (let at = 0; at < 5; at += 1)
        expect(
          (await service.client.fetch('/v2/executions/all', { headers: { Connection: 'close' } })).status,
        ).toBe(200);
      // those that came first went first; on a slow machine the last ones may have waited too long by now, too
      const order = [...closed];
      expect([closed.has(idle[0]!), closed.has(slow)]).toEqual([true, false]);
      if (closed.has(idle.at(-1)!)) expect(order.indexOf(idle[0]!)).toBeLessThan(order.indexOf(idle.at(-1)!));
      slow.write('}');
      await eventually('the answer of the slow request', async () => (answer === '' ? null : true));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    } finally {
      for (const socket of [slow, ...idle]) socket.destroy();
    }
  });

  it('limits: who asks before sending a body is refused without it, and sends it where it is wanted', async () => {
    const { host } = new URL(service.url);
    const ask = (path: string, key: string, bytes: number): string =>
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${key}Content-Type: application/json\r\nContent-Length: ${bytes}\r\nExpect: 100-continue\r\n\r\n`;
    const good = `Authorization: Bearer ${service.key}\r\n`;
    const { key } = (
      await service.client.post<{ key: string }>('/v2/admin/keys', { name: 'reads', scopes: ['jobs:read'] })
    ).body;
    const path = '/v2/file/upload/token';
    const refused = {
      'no key': [path, '', 14, 401],
      'too little scope': [path, `Authorization: Bearer ${key}\r\n`, 14, 403],
      'too long': [path, good, 4001, 413],
      'no token': ['/v2/file/upload/xml', '', 14, 401],
      'a wrong token': ['/v2/file/upload/xml?token=x', '', 14, 401],
      'nothing there': ['/v2/nothing', good, 14, 404],
    } as const;
    const next = `GET /actuator/info HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    for (const [name, [of, withKey, bytes, status]] of Object.entries(refused)) {
      const request = ask(of, withKey, bytes);
      const answer = await raw(request);
      expect([name, answer.match(/^HTTP\/1\.1 \d+/gm)]).toEqual([name, [`HTTP/1.1 ${status}`]]);
      // what comes after it may be the body or a request
      expect(answer).toMatch(/^connection: close\r$/im);
      const sent = await raw(`${request}${'x'.repeat(bytes)}${next}`);
      expect([name, sent.match(/^HTTP\/1\.1 \d+/gm)]).toEqual([name, [`HTTP/1.1 ${status}`]]);
    }
    const body = '{"kind":"xml"}';
    const taken = await raw([ask(path, good, body.length), body + next], 1000);
    expect(taken.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 200']);
  });

  it('smuggling: a request that can be read in two ways is refused, and nothing after it is answered', async () => {
    const { host } = new URL(service.url);
    const head = `POST /v2/run/cmd HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${service.key}\r\nContent-Type: application/json\r\n`;
    const second = `GET /actuator/health HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const twice: Record<string, string> = {
      'two lengths': `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      'a length twice': `${head}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
      'a list of lengths': `${head}Content-Length: 2, 2\r\n\r\n{}`,
      'a length and chunks': `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'chunks twice': `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'a coding beside chunks': `${head}Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      'chunks in HTTP/1.0': `${head.replace('HTTP/1.1', 'HTTP/1.0')}Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      'an unknown encoding': `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
      'a blank in front of a colon': `${head}Content-Length : 2\r\n\r\n{}`,
      'a folded header': `${head}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`,
      'a bare carriage return': `${head}X: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\n{}`,
      'lines without carriage return': `${head}Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n`,
      'two hosts': `${head}Host: elsewhere.example\r\nContent-Length: 2\r\n\r\n{}`,
      'one host twice': `${head}host: ${host}\r\nContent-Length: 2\r\n\r\n{}`,
      'no host': 'GET /doc HTTP/1.1\r\n\r\n',
    };
    for (const [name, text] of Object.entries(twice)) {
      const answers = (await raw(text + second)).match(/^HTTP\/1\.1 \d+/gm);
      expect([name, answers]).toEqual([name, ['HTTP/1.1 400']]);
    }
  });
});
