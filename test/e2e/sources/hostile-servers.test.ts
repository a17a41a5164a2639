/** Servers that cut, lie, change what they serve and answer lists with something else: the right rows, or why not and nothing published. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { some } from '../../support/needs.ts';
import { execution } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient } from '../../support/service/watches.ts';

/** large enough to be sent in parts */
const whole = Buffer.from(
  `<orders>${Array.from({ length: 9000 }, (_, id) => `<order><id>${id}</id></order>`).join('')}</orders>`,
);
const small = '<order><id>1</id></order>';

type Answer = (request: IncomingMessage, response: ServerResponse, number: number) => void;

const startOf = (request: IncomingMessage): number =>
  Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
/** As servers of files do, up to there. */
const file = (request: IncomingMessage, response: ServerResponse, upTo: number, tag = '"1"'): void => {
  const from = startOf(request);
  const headers = { ETag: tag, 'Content-Length': whole.length - from };
  const range = { 'Content-Range': `bytes ${from}-${whole.length - 1}/${whole.length}` };
  response.writeHead(from === 0 ? 200 : 206, from === 0 ? headers : { ...headers, ...range });
  response.write(whole.subarray(from, upTo), () => upTo < whole.length && response.destroy());
  if (upTo >= whole.length) response.end();
};

/** What each does, and what a load of it says; null: all rows are there. */
const files: Readonly<Record<string, readonly [answer: Answer, says: RegExp | null]>> = {
  'cuts now and then': [(request, response, number) => file(request, response, number * 60_000), null],
  'has no time at first': [
    (request, response, number) =>
      number < 3 ? response.writeHead(503).end() : file(request, response, whole.length),
    null,
  ],
  'sends all of it again': [
    (request, response, number) => {
      delete request.headers.range;
      file(request, response, number < 3 ? 50_000 : whole.length);
    },
    null,
  ],
  'cuts for ever': [
    (_, response) => {
      response.writeHead(200, { 'Content-Length': whole.length });
      response.write(whole.subarray(0, 1000), () => response.destroy());
    },
    /cannot be read now \(.+\); nothing was loaded/,
  ],
  'says it is longer': [
    (request, response) => {
      if (startOf(request) > 0) response.writeHead(416).end();
      else {
        response.writeHead(200, { ETag: '"1"', 'Content-Length': whole.length + 10 });
        response.write(whole, () => response.destroy());
      }
    },
    /changed while it was read, so nothing was loaded; run the job again/,
  ],
  'says it is shorter': [
    (_, response) => {
      response.socket!.end(
        `HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: ${whole.length - 10}\r\n\r\n${whole.toString()}`,
      );
    },
    /line 1, column \d+: |cannot be read now/,
  ],
  'changes it meanwhile': [
    // of what was sent before a connection broke, nothing may have arrived
    (request, response) =>
      startOf(request) === 0 ? file(request, response, 70_000) : file(request, response, whole.length, '"2"'),
    /changed while it was read, so nothing was loaded; run the job again/,
  ],
  'gives another part': [
    (request, response) => {
      if (startOf(request) === 0) return file(request, response, 70_000);
      response.writeHead(206, {
        ETag: '"1"',
        'Content-Range': `bytes 0-${whole.length - 1}/${whole.length}`,
      });
      response.end(whole);
    },
    /changed while it was read, so nothing was loaded; run the job again/,
  ],
  'packs what was to come as it is': [
    (_, response) => response.writeHead(200, { 'Content-Encoding': 'br' }).end(Buffer.alloc(400, 0x8b)),
    /line 1, column 1: |no XML|encoding/i,
  ],
  'asks who is there': [
    (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><p>Log in<br>'),
    /line 1, column \d+: /,
  ],
  'leads round and round': [
    (_, response) => response.writeHead(302, { Location: '/again/a.xml' }).end(),
    /too many redirects/,
  ],
  'leads to a forbidden host': [
    (_, response) => response.writeHead(302, { Location: 'https://no-such-host.invalid/a.xml' }).end(),
    /no-such-host\.invalid/,
  ],
};

const object = (key: string): string =>
  `<Contents><Key>${key}</Key><Size>${small.length}</Size><ETag>"1"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`;
const listOf = (content: string, more: string): string =>
  `<?xml version="1.0"?><ListBucketResult>${more}${content}</ListBucketResult>\n`;
const end = '<IsTruncated>false</IsTruncated>';
const more = (token: string): string =>
  `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;

/** Lists of a bucket, by how many were asked for before; null: the object of its list is loaded. */
const lists: Readonly<Record<string, readonly [list: Answer, says: RegExp | null]>> = {
  'in two pages': [
    (_, response, number) =>
      response.end(number === 1 ? listOf('', more('second')) : listOf(object('in/a.xml'), end)),
    null,
  ],
  'the same page again and again': [
    (_, response) => response.end(listOf(object('in/a.xml'), more('same'))),
    /the same page of its list again and again/,
  ],
  'continues without a token': [
    (_, response) => response.end(listOf(object('in/a.xml'), '<IsTruncated>true</IsTruncated>')),
    /says that its list continues, but gives no continuation token/,
  ],
  'ends in the middle': [
    (_, response) => {
      const text = listOf(object('in/a.xml') + object('in/b.xml'), end);
      response.writeHead(200, { Connection: 'close' }).end(text.slice(0, -40));
    },
    /an invalid or incomplete list/,
  ],
  'is a page of the web': [
    (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><p>Welcome</p>'),
    /an invalid or incomplete list/,
  ],
  'is refused for the moment': [
    (_, response) => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>'),
    /cannot be listed now \(SlowDown\)/,
  ],
  'is cut off': [(_, response) => response.destroy(), /cannot be listed now \(/],
  'names what is not there': [
    (_, response) => response.end(listOf(object('in/gone.xml'), end)),
    /there is no such file \(status 404\)/,
  ],
};

describe('a server that', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let port: number;
  const asked = new Map<string, number>();

  beforeAll(async () => {
    const server = createServer((request, response) => {
      const path = decodeURIComponent(new URL(request.url!, 'http://web').pathname);
      const [, first = '', second = ''] = path.split('/');
      const number = (asked.get(path) ?? 0) + 1;
      asked.set(path, number);
      if (first === 'again') files['leads round and round']![0](request, response, number);
      else if (first === 'file') files[second]![0](request, response, number);
      else if (path.endsWith('/a.xml')) response.writeHead(200, { ETag: '"1"' }).end(small);
      else if (path.endsWith('/gone.xml')) response.writeHead(404).end();
      else lists[bucketsOf.get(first)!]![0](request, response, number);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    trial.keep(server, (one) => new Promise((resolve) => (one.closeAllConnections(), one.close(resolve))));
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': `127.0.0.1:${port},127.0.0.1:9`,
      'svc.sources.store.kind': 's3',
      'svc.sources.store.endpoint': `http://127.0.0.1:${port}`,
      'svc.sources.store.access_key': 'A',
      'svc.sources.store.secret_key': 'S',
    });
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  const bucketsOf = new Map(Object.keys(lists).map((name, at) => [`bucket-${at}`, name]));
  let serial = 0;
  /** By hand, so that nothing is tried again later; `rows`: of the table of orders, null where there is none. */
  const load = async (
    ...words: string[]
  ): Promise<{ code: number | null; told: string; rows: number | null }> => {
    const sqlSchema = `load_${(serial += 1)}`;
    const { code, stdout, stderr } = await runTool(home, 'xml2er', [...words, '-o', `metadb:${sqlSchema}`]);
    const [there] =
      await sql`select 1 from pg_tables where schemaname = ${sqlSchema} and tablename = 'order'`;
    const [found] =
      there === undefined ? [] : await sql`select count(*)::int as n from ${sql(sqlSchema)}."order"`;
    return { code, told: stdout + stderr, rows: (found?.['n'] as number | undefined) ?? null };
  };

  it.each(some(Object.entries(files), 8))('%s', async (name, [, says]) => {
    const { code, told, rows } = await load(
      `http://127.0.0.1:${port}/file/${encodeURIComponent(name)}/a.xml`,
    );
    if (says === null) expect([code, rows, told]).toEqual([0, 9000, expect.any(String)]);
    else expect([code, rows, told]).toEqual([1, null, expect.stringMatching(says)]);
  });

  it.each(some([...bucketsOf], 5))('has a list (%s) that %s', async (bucket, name) => {
    const says = lists[name]![1];
    const { code, told, rows } = await load(`s3://${bucket}/in/`, '--credential', 'store');
    if (says === null) expect([code, rows, told]).toEqual([0, 1, expect.any(String)]);
    else expect([code, rows, told]).toEqual([1, null, expect.stringMatching(says)]);
  });

  it('changes a file fails the job of a service, too, which publishes nothing and says what to do', async () => {
    const path = 'changes it meanwhile';
    asked.delete(`/file/${path}/a.xml`);
    const { jobs } = await service.client.run([
      execution('xml2er', `http://127.0.0.1:${port}/file/${encodeURIComponent(path)}/a.xml`, [
        ['-o', 'metadb:job'],
      ]),
    ]);
    expect(await service.client.ended(jobs[0]!)).toMatchObject({
      status: 'F',
      failure: expect.stringContaining('run the job again when no program writes the file') as string,
    });
    expect(await sql`select 1 from pg_tables where schemaname = 'job' and tablename = 'order'`).toEqual([]);
  });

  it.each(
    some(
      [
        [
          'an address that nobody answers',
          'http://127.0.0.1:9/a.xml',
          /cannot be reached now \(ECONNREFUSED\)/,
        ],
        ['a bucket whose list ends in the middle', 's3://bucket-3/in/', /an invalid or incomplete list/],
        ['a bucket whose server cuts', 's3://bucket-6/in/', /cannot be listed now \(/],
      ] as const,
      2,
    ),
  )('is watched stalls the watch, which says why: %s', async (_, location, says) => {
    const watches = watchClient(service.client);
    const { id_watch: id } = await watches.create({
      name: location,
      location,
      target: 'metadb:stalls',
      every: '1s',
      settle: '0s',
      ...(location.startsWith('s3:') ? { credential: 'store' } : {}),
    });
    const { stalled } = await watches.stalled(id);
    expect(stalled).toMatch(says);
    expect(await watches.files(id)).toEqual([]);
    expect((await service.client.fetch(`/v2/watches/${id}`, { method: 'DELETE' })).status).toBe(204);
  });
});
