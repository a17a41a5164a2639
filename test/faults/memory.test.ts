/**
 * Memory does not follow the size of a document. MEMORY_MEGABYTES says how large it is (60); with 200 it is the size that the
 * limit is promised for.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/postgres/connect.ts';
import type { RunningService } from '../support/service/start.ts';
import { createLargeLoad, expectLoadedOnce, type LargeLoad } from '../support/documents/large-target.ts';
import { peakMemory, toolProcesses } from '../support/service/processes.ts';
import { startTool } from '../support/service/tools.ts';
import { eventually } from '../support/service/waiting.ts';
import { needs } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const megabytes = Number(process.env['MEMORY_MEGABYTES'] ?? 60);
const limitBytes = 400e6;

/** Watches a process to its end. */
async function watch(pid: number): Promise<number> {
  let peak = 0;
  return eventually('the end of the tool', async () => {
    const now = await peakMemory(pid);
    if (now === null) return peak;
    peak = Math.max(peak, now);
    return null;
  });
}

describe(`a document of ${megabytes} MB`, { ...needs('whole run'), timeout: 300_000 }, () => {
  let load: LargeLoad;
  const trial = useTrial();
  let service: RunningService;

  beforeAll(async () => {
    load = trial.keep(await createLargeLoad(megabytes), ({ remove }) => remove());
    service = await trial.service(load.home);
  });

  it(`with its XSD: the tool stays below ${limitBytes / 1e6} MB`, async () => {
    const { client } = service;
    const idJob = await load.submit(client, 'by_service');
    const tool = await eventually('the tool', async () => (await toolProcesses(load.home, idJob))[0] ?? null);
    const peak = await watch(tool.pid);
    const job = await client.ended(idJob);
    expect(job, job.failure ?? '').toMatchObject({ status: 'C', attempt: 1 });
    expect(peak).toBeGreaterThan(20e6);
    expect(peak).toBeLessThanOrEqual(limitBytes);
    const sql = connectPostgres(await load.home.databaseUrl(), { applicationName: 'test', max: 1 });
    await expectLoadedOnce(sql, 'by_service', load.document);
    await sql.end();
  });

  it(`without an XSD, by hand: the tool stays below ${limitBytes / 1e6} MB`, async () => {
    const tool = startTool(load.home, 'xml2er', [load.document.path, '-o', 'metadb:by_hand', '--json']);
    const peak = await watch(tool.pid);
    const { code, summary, stdout, stderr } = await tool.ended;
    expect(code, stdout + stderr).toBe(0);
    expect(peak).toBeGreaterThan(20e6);
    expect(peak).toBeLessThanOrEqual(limitBytes);
    expect(summary!.tables['package']).toBe(load.document.packages);
    expect(summary!.tables['goods']).toBe(load.document.goods);
  });
});
