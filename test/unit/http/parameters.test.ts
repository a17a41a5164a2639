/** Parameters in their exact forms. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import { emptySourceModel } from '../../contracts/stores/catalog/models.ts';
import { startNextJob, submitJobs } from '../../support/memory/job-records.ts';
import { operationsOf, type OpenApiDocument } from '../../support/openapi-document.ts';
import type { HostCallers } from '../../../src/ports/network.ts';

async function ask(path: string) {
  const { send, adapters } = await createTestApp();
  await submitJobs(adapters.jobs, 1, 1);
  const answer = await send(path);
  const body = (await answer.json()) as {
    code?: string;
    detail?: string;
    errors?: { pointer: string; detail: string }[];
  };
  return { ...body, status: answer.status };
}

describe('int64 path parameters', () => {
  it.each(['0', '2', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'])(
    '%s is in range, and nothing',
    async (id) => {
      expect(await ask(`/v2/executions/get/${id}`)).toMatchObject({ status: 404, code: 'not_found' });
    },
  );

  it.each([
    '9223372036854775808',
    '99999999999999999999999999',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x10',
    '%201',
    '1%20',
    'x',
    '١',
    '1_000',
    'NaN',
    '1%2F2',
    '%00',
    '%zz',
  ])('%s is out of form or range', async (id) => {
    expect(await ask(`/v2/executions/get/${id}`)).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      errors: [{ pointer: '/path/id', detail: 'must be an integer from 0 to 9223372036854775807' }],
    });
  });

  it('may have leading zeros: they are digits', async () => {
    expect((await ask('/v2/executions/get/0001')).status).toBe(200);
  });

  it('compares exactly: 2^53 + 1 is not 2^53', async () => {
    expect((await ask('/v2/schema/9007199254740993')).status).toBe(404);
    expect((await ask('/v2/schema/1?id_lschma=9223372036854775808')).status).toBe(400);
  });
});

describe('int32 path parameters', () => {
  it.each([
    ['2147483647', 200],
    ['0', 200],
    ['2147483648', 400],
    ['9223372036854775807', 400],
    ['-1', 400],
    ['a', 400],
  ])('%s gives %i', async (page, status) => {
    expect((await ask(`/v2/executions/all/${page}`)).status).toBe(status);
  });
});

describe('?size', () => {
  it.each([
    ['size=1', 200],
    ['size=500', 200],
    ['', 200],
    ['size=0', 400],
    ['size=501', 400],
    ['size=', 400],
    ['size=1.5', 400],
    ['size=1&size=2', 400],
  ])('?%s gives %i', async (query, status) => {
    const answer = await ask(`/v2/workflow/all?${query}`);
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.errors).toEqual([{ pointer: '/query/size', detail: 'must be an integer from 1 to 500' }]);
  });
});

describe('unknown query parameters', () => {
  it('are refused, with the closest one that the operation knows', async () => {
    expect(await ask('/v2/executions/all?siez=5')).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      detail: 'siez is not a parameter of this operation; did you mean size?',
      errors: [
        { pointer: '/query/siez', detail: 'is not a parameter of this operation; did you mean size?' },
      ],
    });
    expect((await ask('/v2/schema/ddl/1?Dialect=duckdb')).errors).toMatchObject([
      { pointer: '/query/Dialect', detail: expect.stringContaining('did you mean dialect?') as string },
    ]);
  });

  it('are refused with the names that there are, if none is close', async () => {
    const { errors } = await ask('/v2/watches?x=1&__proto__=1&a%2Fb=2&x=2&size=5');
    expect(errors!.map(({ pointer }) => pointer)).toEqual(['/query/x', '/query/__proto__', '/query/a~1b']);
    expect(errors![0]!.detail).toBe(
      'is not a parameter of this operation; its query parameters are size, page',
    );
    expect((await ask('/v2/about/org?x=1')).errors![0]!.detail).toBe(
      'is not a parameter of this operation; it has none in the query',
    );
  });

  it('are refused by every operation', async () => {
    const { app, send } = await createTestApp();
    const document = (await (await app.request('/doc')).json()) as OpenApiDocument;
    const operations = operationsOf(document).filter(({ path }) => !path.startsWith('/v2/file/upload/x'));
    expect(operations.length).toBeGreaterThan(60);
    for (const { method, path, responses } of operations) {
      if (method === 'TRACE') continue;
      const answer = await send(`${path.replaceAll(/{\w+}/g, '1')}?unheard_of=1`, {
        method,
        ...(method === 'POST' || method === 'PATCH'
          ? { headers: { 'Content-Type': 'application/json' }, body: '{}' }
          : {}),
      });
      expect([method, path, answer.status]).toEqual([method, path, 400]);
      expect(responses).toHaveProperty('400');
      if (method !== 'HEAD')
        expect(await answer.json()).toMatchObject({
          code: 'invalid_parameter',
          errors: [{ pointer: '/query/unheard_of' }],
        });
    }
  });

  it('are looked at after the key and its scope, and after the token of an upload', async () => {
    const { send, newKey } = await createTestApp();
    expect((await send('/v2/executions/all?x=1', { key: 'svk_no' })).status).toBe(401);
    const { key } = await newKey(1, ['schemas:read']);
    expect((await send('/v2/executions/all?x=1', { key })).status).toBe(403);
    const upload = { method: 'POST', body: '<a/>' };
    expect((await send('/v2/file/upload/xml?token=no&nmae=a.xml', upload)).status).toBe(401);
    const token = await send('/v2/file/upload/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"kind":"xml"}',
    });
    const { token: text } = (await token.json()) as { token: string };
    const refused = await send(`/v2/file/upload/xml?token=${text}&nmae=a.xml`, upload);
    expect(await refused.json()).toMatchObject({
      status: 400,
      errors: [{ pointer: '/query/nmae', detail: expect.stringContaining('did you mean name?') as string }],
    });
  });

  it('may be those of the sign-in of a host', async () => {
    const callers: HostCallers = {
      queryParameters: ['ticket'],
      identify: async (request) =>
        new URL(request.url).searchParams.get('ticket') === 'good'
          ? { name: 'anna', idOrg: 1, scopes: ['jobs:read'] }
          : null,
    };
    const { send } = await createTestApp({}, { callers });
    expect((await send('/v2/executions/all?ticket=good', { key: null })).status).toBe(200);
    expect((await send('/v2/executions/all?ticket=good&tikcet=x', { key: null })).status).toBe(400);
  });
});

/** The targets of a `Link` header by relation, resolved against the address of the request. */
function linksOf(path: string, answer: Response): Record<string, string> {
  const links = (answer.headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries(
    [...links].map(([, target, relation]) => {
      const { pathname, search } = new URL(target!, `http://host${path}`);
      return [relation, pathname + search];
    }),
  );
}

interface JobPage {
  readonly content: readonly { readonly id_job: number }[];
  readonly page: number;
  readonly total_elements: number;
}

describe('links between pages', () => {
  it('lead through the pages with numbers', async () => {
    const { send, adapters } = await createTestApp();
    const { idWorkflow } = await submitJobs(adapters.jobs, 1, 5);
    const links = async (path: string) => linksOf(path, await send(path));
    expect(await links('/v2/executions/all/1?size=2')).toEqual({
      first: '/v2/executions/all/0?size=2',
      next: '/v2/executions/all/2?size=2',
      prev: '/v2/executions/all/0?size=2',
    });
    expect(await links('/v2/executions/all/2?size=2&status=Q')).toEqual({
      first: '/v2/executions/all/0?size=2&status=Q',
      prev: '/v2/executions/all/1?size=2&status=Q',
    });
    expect(await links('/v2/executions/all/7?size=2')).toEqual({
      first: '/v2/executions/all/0?size=2',
      prev: '/v2/executions/all/2?size=2',
    });
    expect(await links(`/v2/executions/${idWorkflow}?size=2`)).toEqual({
      first: `/v2/executions/${idWorkflow}/0?size=2`,
      next: `/v2/executions/${idWorkflow}/1?size=2`,
    });
    expect(await links(`/v2/executions/${idWorkflow}/1?size=4`)).toEqual({
      first: `/v2/executions/${idWorkflow}/0?size=4`,
      prev: `/v2/executions/${idWorkflow}/0?size=4`,
    });
    expect(await links('/v2/workflow/all/0')).toEqual({ first: '/v2/workflow/all/0' });
    expect(await links('/v2/watches?size=3')).toEqual({ first: '/v2/watches?size=3&page=0' });
    expect(await links('/v2/schema/all?page=2')).toEqual({
      first: '/v2/schema/all?page=0&size=20',
      prev: '/v2/schema/all?page=1&size=20',
    });
    expect(await links('/v2/schema/all')).toEqual({});
  });

  it('lead by cursors, past records that are added and removed meanwhile', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 7);
    const read = async (path: string) => {
      const answer = await send(path);
      expect(answer.status).toBe(200);
      const { content, page } = (await answer.json()) as JobPage;
      return { links: linksOf(path, answer), ids: content.map((job) => job.id_job), page };
    };
    const first = await read('/v2/executions/all?size=3&status=Q');
    expect(first).toMatchObject({ ids: [7, 6, 5], page: 0 });
    expect(Object.keys(first.links)).toEqual(['first', 'next']);
    expect(first.links['next']).toContain('size=3&status=Q&cursor=');
    await submitJobs(adapters.jobs, 1, 2);
    const second = await read(first.links['next']!);
    expect(second).toMatchObject({ ids: [4, 3, 2], page: 1 });
    expect(second.links['first']).toBe('/v2/executions/all?size=3&status=Q');
    const third = await read(second.links['next']!);
    expect(third).toMatchObject({ ids: [1], page: 2 });
    expect(Object.keys(third.links)).toEqual(['first', 'prev']);
    const back = await read(third.links['prev']!);
    expect(back).toMatchObject({ ids: [4, 3, 2], page: 1 });
    const front = await read(back.links['prev']!);
    expect(front).toMatchObject({ ids: [7, 6, 5], page: 0 });
    const newer = await read(front.links['prev']!);
    expect(newer).toMatchObject({ ids: [9, 8], page: 0 });
    expect(Object.keys(newer.links)).toEqual(['first', 'next']);
    expect((await read(newer.links['next']!)).ids).toEqual([7, 6, 5]);
  });

  it('need a cursor of the same list', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 3);
    const path = '/v2/executions/all?size=1';
    const { next } = linksOf(path, await send(path));
    const cursor = new URLSearchParams(next!.split('?')[1]).get('cursor')!;
    for (const [list, text] of [
      ['executions/all', ''],
      ['executions/all', 'x'],
      ['executions/all', `${cursor}%3D`],
      ['executions/all', btoa('jobs after 0x7 1')],
      ['executions/all', btoa('jobs after 99999999999999999999 1').replaceAll('=', '')],
      ['workflow/all', cursor],
      ['extensions/cil/jobs', cursor],
    ])
      expect(await (await send(`/v2/${list}?cursor=${text}`)).json()).toMatchObject({
        code: 'invalid_parameter',
        errors: [{ pointer: '/query/cursor', detail: 'must be a cursor from a Link header of this list' }],
      });
    expect((await send(`/v2/executions/all?cursor=${cursor}`)).status).toBe(200);
    expect((await send(`/v2/executions/all/0?cursor=${cursor}`)).status).toBe(400);
  });
});

describe('filters of lists', () => {
  it.each(['executions/all', 'executions/all/0', 'workflow/all', 'workflow/all/0', 'extensions/cil/jobs/0'])(
    'of %s refuse what is no state, type or time',
    async (path) => {
      const time = 'must be a time in epoch milliseconds, from 0 to 253402300799999';
      for (const [query, name, detail] of [
        ['status=X', 'status', expect.stringContaining('"Q"')],
        ['status=Q&status=R', 'status', expect.any(String)],
        ['job_type=parse', 'job_type', expect.stringContaining('"Parse"')],
        ['cfxml=', 'cfxml', expect.any(String)],
        ['since=-1', 'since', time],
        ['until=2026-01-01', 'until', time],
        ['since=253402300800000', 'since', time],
        ['since=2&until=1', 'until', 'must not be before since'],
      ] as const)
        expect(await ask(`/v2/${path}?${query}`)).toMatchObject({
          status: 400,
          code: 'invalid_parameter',
          errors: [{ pointer: `/query/${name}`, detail: detail as string }],
        });
    },
  );

  it('select jobs, workflows and runs', async () => {
    const { send, adapters } = await createTestApp();
    const { id_sch: idSch } = await adapters.catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'donuts',
      sourceType: 'xml',
      model: emptySourceModel,
      files: [],
    });
    await submitJobs(adapters.jobs, 1, 1);
    const job = await startNextJob(adapters.jobs);
    await job.report({ idSch });
    await job.end('failed');
    const later = (adapters.time.nowMs += 1000);
    await submitJobs(adapters.jobs, 1, 2);
    const counts = async (query: string) => {
      const totals = [];
      for (const list of ['executions/all', 'workflow/all/0', 'extensions/cil/jobs']) {
        const answer = await send(`/v2/${list}?${query}`);
        totals.push(((await answer.json()) as JobPage).total_elements);
      }
      return totals;
    };
    expect(await counts('')).toEqual([3, 2, 1]);
    expect(await counts('status=F')).toEqual([1, 1, 1]);
    expect(await counts('status=Q')).toEqual([2, 1, 0]);
    expect(await counts('job_type=Parse')).toEqual([3, 2, 1]);
    expect(await counts('job_type=Schema')).toEqual([0, 0, 0]);
    expect(await counts('cfxml=donuts')).toEqual([1, 1, 1]);
    expect(await counts('cfxml=no-such-feed')).toEqual([0, 0, 0]);
    expect(await counts(`since=${later}`)).toEqual([2, 1, 0]);
    expect(await counts(`until=${later}`)).toEqual([1, 1, 1]);
    expect(await counts(`since=${later}&until=${later}`)).toEqual([0, 0, 0]);
    expect(await counts('cfxml=donuts&status=C')).toEqual([0, 0, 0]);
  });
});

describe('pages', () => {
  it('counts from 0, newest first, and is empty past the end', async () => {
    const { send, adapters } = await createTestApp();
    await submitJobs(adapters.jobs, 1, 45);
    const page = async (path: string) =>
      (await (await send(path)).json()) as {
        content: { id_job: number }[];
        page: number;
        size: number;
        total_elements: number;
        total_pages: number;
      };
    const first = await page('/v2/executions/all');
    expect(first.content.map((job) => job.id_job)).toEqual(Array.from({ length: 20 }, (_, at) => 45 - at));
    expect(first).toMatchObject({ page: 0, size: 20, total_elements: 45, total_pages: 3 });
    expect(await page('/v2/executions/all/0')).toEqual(first);
    const last = await page('/v2/executions/all/2');
    expect(last.content.map((job) => job.id_job)).toEqual([5, 4, 3, 2, 1]);
    expect(await page('/v2/executions/all/3')).toEqual({ ...last, content: [], page: 3 });
    expect((await page('/v2/executions/all/1?size=30')).content).toHaveLength(15);
    const ofWorkflow = await page('/v2/executions/1/1?size=10');
    expect(ofWorkflow.content.map((job) => job.id_job)).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
  });
});
