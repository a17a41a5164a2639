/** Submitting commands as jobs. */
import { beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/config/properties.ts';
import type { AppError } from '../../../../src/errors.ts';
import type { Execution } from '../../../../src/service/jobs/request/execution-request.ts';
import { rerunJob, submitCommands } from '../../../../src/service/jobs/submit.ts';
import { openRequest } from '../../../../src/service/jobs/request/stored-request.ts';
import { createMemoryAdapters, type MemoryAdapters } from '../../../support/memory/adapters.ts';

const on = readConfig({ 'cmd.enabled': 'true' });
const caller = { idOrg: 1 };

type Item = readonly [command: string, value?: string, enabled?: boolean];

function execution(
  file: string | null,
  generation: readonly Item[] = [],
  more: Partial<Execution> = {},
): Execution {
  const items = generation.map(([command, value, enabled = true]) => ({ command, value, enabled }));
  const source = file === null ? {} : { file: { command: file, enabled: true } };
  return { app_name: 'xml2er', source, target: { generation: items }, ...more };
}

describe('submitting', () => {
  let adapters: MemoryAdapters;
  beforeEach(() => {
    adapters = createMemoryAdapters();
    adapters.files.put(1, 'uploads/1/a.xml', new Uint8Array(1));
  });
  const submit = (executions: Execution[], settings = on) =>
    submitCommands(adapters, settings, caller, { executions }, null).then(({ answer }) => answer);
  const refused = async (executions: Execution[], settings = on): Promise<AppError> => {
    const error = await submit(executions, settings).then(
      () => null,
      (reason: AppError) => reason,
    );
    if (error === null) throw new Error('it was accepted');
    expect((await adapters.jobs.listJobs(1, 0, 10)).totalElements).toBe(0);
    return error;
  };

  it('takes jobs on Spark where there is one, with its settings in their records', async () => {
    const onSpark = [execution('uploads/1/a.xml', [['--engine', 'spark']])];
    const error = await refused(onSpark);
    expect(error.code).toBe('invalid_option');
    expect(error.errors).toEqual([
      {
        pointer: '/executions/0/target/generation/0/value',
        detail: expect.stringContaining('set svc.spark.submit') as string,
      },
    ]);
    const settings = { 'svc.spark.submit': '/opt/spark/bin/spark-submit', 'svc.spark.master': 'yarn' };
    await submit(onSpark, readConfig({ 'cmd.enabled': 'true', ...settings }));
    const record = await adapters.jobs.findJob(1, 1);
    expect(record).toMatchObject({ status: 'queued', id_app: null });
    expect(JSON.parse(record!.params_json)).toMatchObject({
      spark: { master: 'yarn', 'executor.memory': '1g' },
    });
  });

  it('makes one workflow of jobs whose command lines hold nothing but the job', async () => {
    const answer = await submit([
      execution('uploads/1/a.xml', [['-g', '3']]),
      execution('uploads/1/a.xml', [
        ['-x', '$0'],
        ['-o', 'metadb:donuts'],
        ['-S', 'o'],
        ['-g', '1', false],
      ]),
    ]);
    expect(answer).toEqual({
      error: false,
      logPath: null,
      cmds: ['xml2er -j 1', 'xml2er -j 2'],
      jobs: [1, 2],
      id_workflow: 1,
    });
    expect(await adapters.jobs.findJob(1, 2)).toMatchObject({
      job_type: 'Parse',
      status: 'queued',
      params: "uploads/1/a.xml -x '$0' -o metadb:donuts -S o",
      parm_path_input: 'uploads/1/a.xml',
      parm_path_output: 'metadb:donuts',
    });
    const { request } = await adapters.jobs.findStoredJob(2);
    expect(await openRequest(request, adapters.secrets)).toMatchObject({
      originId: { ref: 0 },
      saveMode: 'overwrite',
      out: 'metadb:donuts',
    });
  });

  it('is off unless switched on', async () => {
    const off = readConfig({});
    expect(await refused([execution('uploads/1/a.xml')], off)).toMatchObject({ code: 'commands_disabled' });
    await expect(rerunJob(adapters, off, caller, 1)).rejects.toMatchObject({ code: 'commands_disabled' });
  });

  it('collects the complaints about all executions, and then no job exists', async () => {
    const error = await refused([
      execution('uploads/1/a.xml'),
      execution('nothing.xml', [
        ['-o', 'metadb:svc'],
        ['-x', '99'],
      ]),
      execution('../../etc/passwd', [['-g', '7']]),
      execution('-'),
      execution('uploads/1/a.xml', [], { app_name: 'rm' }),
      execution(null),
      execution('uploads/1/a.xml', [['-x', '$6']]),
      execution('uploads/1/a.xml', [['-o', '/etc/cron.d']]),
    ]);
    expect(error.errors.map(({ pointer }) => pointer)).toEqual([
      '/executions/1/source/file/command',
      '/executions/1/target/generation/0/value',
      '/executions/1/target/generation/1/value',
      '/executions/2/target/generation/0/value',
      '/executions/3/source/file/command',
      '/executions/4/app_name',
      '/executions/5',
      '/executions/6/target/generation/0/value',
      '/executions/7/target/generation/0/value',
    ]);
    expect(error.code).toBe('input_not_found');
  });

  it('asks for globs that start in a folder that exists', async () => {
    await submit([execution('uploads/1/*.xml')]);
    await expect(submit([execution('elsewhere/*.xml')])).rejects.toMatchObject({ code: 'input_not_found' });
  });

  it('never logs in as the user that the service runs as', async () => {
    const settings = { ...on, allowedHosts: ['*'] };
    const run = (...options: Item[]) =>
      submitCommands(
        adapters,
        settings,
        caller,
        { executions: [execution('uploads/1/a.xml', options)] },
        null,
      );
    await expect(run(['-o', 'postgresql://dwh/lake'])).rejects.toMatchObject({
      message: expect.stringContaining('-u'),
    });
    await run(['-o', 'postgresql://dwh/lake'], ['-u', 'etl']);
    await run(['-o', 'postgresql://etl@dwh/lake']);
  });

  it('reaches no host that the operator has not named', async () => {
    const target: Item[] = [['-o', 'postgresql://u:c4n4ry@127.0.0.1:5432/x?schema=y']];
    const error = await refused([execution('uploads/1/a.xml', target)]);
    expect(error.code).toBe('host_not_allowed');
    expect(error.message).toContain('svc.allow.hosts');
    expect(JSON.stringify([error.message, error.errors])).not.toContain('c4n4ry');
    const open = readConfig({ 'cmd.enabled': 'true', 'svc.allow.hosts': '127.0.0.1:5432' });
    const answer = await submit([execution('uploads/1/a.xml', target)], open);
    const record = await adapters.jobs.findJob(1, answer.jobs[0]!);
    expect(JSON.stringify(record)).not.toContain('c4n4ry');
  });

  it('reaches an external metadata database, but not the schema of the service there', async () => {
    const own = readConfig({ 'cmd.enabled': 'true', 'metadb.url': 'postgresql://svc:pw@meta:5433/db' });
    expect(
      await refused([execution('uploads/1/a.xml', [['-o', 'postgresql://u@meta:5433/db?schema=SVC']])], own),
    ).toMatchObject({ code: 'target_not_allowed' });
    expect(
      (await submit([execution('uploads/1/a.xml', [['-o', 'postgresql://u@meta:5433/db?schema=lake']])], own))
        .jobs,
    ).toHaveLength(1);
    await expect(
      submit([execution('uploads/1/a.xml', [['-o', 'postgresql://u@meta/db?schema=lake']])], own),
    ).rejects.toMatchObject({ code: 'host_not_allowed' });
  });

  it('refuses an SQL schema that another organisation owns', async () => {
    await adapters.catalog.claimTargetSchema(2, 'theirs', { idJob: 1, maxNames: 1 });
    expect(await refused([execution('uploads/1/a.xml', [['-o', 'metadb:theirs']])])).toMatchObject({
      code: 'target_not_owned',
    });
  });

  it('takes no name: who loads first has it', async () => {
    await submit([execution('uploads/1/a.xml', [['-o', 'metadb:wanted']])]);
    expect(await adapters.catalog.ownsTargetSchema(2, 'wanted')).toBe(false);
  });

  it('masks the secrets of its credential in the record, wherever the request repeats them', async () => {
    const settings = readConfig({
      'cmd.enabled': 'true',
      'svc.allow.hosts': 'db.example',
      'svc.sources.store.kind': 'https',
      'svc.sources.store.host': 'db.example',
      'svc.sources.store.token': 'canary-of-the-store',
    });
    const options: Item[] = [
      ['--credential', 'store'],
      ['--row-tag', 'canary-of-the-store'],
    ];
    await submit([execution('https://db.example/a.xml', options)], settings);
    const record = JSON.stringify(await adapters.jobs.findJob(1, 1));
    expect(record).toContain('--row-tag');
    expect(record).not.toContain('canary');
  });

  it('gives the first answer again for the same key and body', async () => {
    const body = { executions: [execution('uploads/1/a.xml')] };
    const once = (bodyHash: string) => submitCommands(adapters, on, caller, body, { key: 'k', bodyHash });
    const first = await once('h');
    expect(first.replayed).toBe(false);
    expect(await once('h')).toEqual({ ...first, replayed: true });
    await adapters.files.removeFile(1, 'uploads/1/a.xml');
    expect(await once('h')).toEqual({ ...first, replayed: true });
    await expect(once('other')).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect((await adapters.jobs.listJobs(1, 0, 10)).totalElements).toBe(1);
  });
});
