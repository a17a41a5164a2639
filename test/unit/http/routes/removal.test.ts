/** DELETE of schemas, jobs and files. */
import { describe, expect, it } from 'vitest';
import { createTestApp } from '../../../support/memory/adapters.ts';
import { startNextJob, submitJobs } from '../../../support/memory/job-records.ts';
import { donutRelationalModel, donutSourceModel } from '../../../support/models/donut.ts';

const remove = { method: 'DELETE' };

describe('DELETE /v2/schema/{id}', () => {
  it('removes a schema that no job uses', async () => {
    const { send, adapters, newKey } = await createTestApp();
    const { catalog, jobs } = adapters;
    const origin = {
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'donuts',
      sourceType: 'xsd' as const,
      model: donutSourceModel,
      files: [],
    };
    const { id_sch: idSch } = await catalog.createOrigin(origin);
    await catalog.createLogicalSchema(1, idSch, donutRelationalModel, null);
    const path = `/v2/schema/${idSch}`;
    const { key: foreign } = await newKey(2, ['schemas:write']);
    const { key: reader } = await newKey(1, ['schemas:read']);
    expect((await send(path, { ...remove, key: foreign })).status).toBe(404);
    expect((await send(path, { ...remove, key: reader })).status).toBe(403);
    await submitJobs(jobs, 1, 1);
    const claim = (await jobs.claimJob(
      { workerId: 'w', host: 'h/1', osUser: 'svc', basePath: '/' },
      60_000,
    ))!;
    await jobs.report(claim, { idSch });
    expect((await send(path, remove)).status).toBe(409);
    await jobs.finish(claim, 'completed', null);
    const answer = await send(path, remove);
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect((await send(path)).status).toBe(404);
    expect((await send(path, remove)).status).toBe(404);
    expect((await send('/v2/schema/x', remove)).status).toBe(400);
    expect((await catalog.createOrigin(origin)).version).toBe(1);
  });
});

describe('DELETE /v2/executions/{id}', () => {
  it('removes an ended job with its log', async () => {
    const { send, adapters, newKey } = await createTestApp();
    const { jobs, logs } = adapters;
    await submitJobs(jobs, 1, 2);
    const first = await startNextJob(jobs);
    logs.appendLog(first.idJob, 'done\n');
    const path = `/v2/executions/${first.idJob}`;
    expect((await send(path, remove)).status).toBe(409);
    await first.end('completed');
    const waiting = await send(path, remove);
    expect([waiting.status, ((await waiting.json()) as { code: string }).code]).toEqual([
      409,
      'job_not_terminal',
    ]);
    await (await startNextJob(jobs)).end('failed');
    const { key: foreign } = await newKey(2, ['jobs:run']);
    expect((await send(path, { ...remove, key: foreign })).status).toBe(404);
    expect((await send(path, remove)).status).toBe(204);
    expect(await logs.logSize(first.idJob)).toBeNull();
    expect((await send(`/v2/executions/get/${first.idJob}`)).status).toBe(404);
    expect((await send(path, remove)).status).toBe(404);
    expect((await send('/v2/executions/x', remove)).status).toBe(400);
  });
});

describe('DELETE /v2/file', () => {
  it('removes a file of the organisation alone', async () => {
    const { send, adapters, newKey } = await createTestApp();
    adapters.files.put(1, 'uploads/1/a.xml', new Uint8Array(3));
    const path = '/v2/file?path=uploads/1/a.xml';
    const { key: foreign } = await newKey(2, ['files:upload']);
    expect((await send(path, { ...remove, key: foreign })).status).toBe(404);
    expect((await send(path, remove)).status).toBe(204);
    expect(adapters.files.stored.size).toBe(0);
    expect((await send(path, remove)).status).toBe(404);
    for (const bad of ['/v2/file', '/v2/file?path=', '/v2/file?path=../x', '/v2/file?path=/etc/passwd'])
      expect([bad, (await send(bad, remove)).status]).toEqual([bad, 400]);
    const get = await send(path);
    expect([get.status, get.headers.get('Allow')]).toEqual([405, 'DELETE']);
  });
});
