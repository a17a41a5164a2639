/** Parameters in their exact forms. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import { submitJobs } from '../../support/memory/job-records.ts';

async function ask(path: string) {
  const { send, adapters } = await createTestApp();
  await submitJobs(adapters.jobs, 1, 1);
  const answer = await send(path);
  const body = (await answer.json()) as { code?: string; errors?: { pointer: string; detail: string }[] };
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
      errors: [{ pointer: '#/path/id', detail: 'must be an integer from 0 to 9223372036854775807' }],
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
    ['other=1', 200],
    ['size=0', 400],
    ['size=501', 400],
    ['size=', 400],
    ['size=1.5', 400],
    ['size=1&size=2', 400],
  ])('?%s gives %i', async (query, status) => {
    const answer = await ask(`/v2/workflow/all?${query}`);
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.errors).toEqual([
        { pointer: '#/query/size', detail: 'must be an integer from 1 to 500' },
      ]);
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
