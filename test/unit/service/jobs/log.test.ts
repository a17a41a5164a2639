/** Job logs: slices, last lines, followers. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { JobStatus } from '../../../../src/service/jobs/record.ts';
import { followJobLog, maxSliceBytes, readJobLog, streamJobLog } from '../../../../src/service/jobs/log.ts';
import { createMemoryAdapters, type MemoryAdapters } from '../../../support/memory/adapters.ts';

const worker = { workerId: 'w', host: 'h/1', osUser: 'u', basePath: '/' };
const sizeOf = (log: string): number => new TextEncoder().encode(log).length;
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const mayGoOn = (): Promise<boolean> => Promise.resolve(true);

describe('job log', () => {
  let adapters: MemoryAdapters;
  let idJob: number;
  beforeEach(async () => {
    adapters = createMemoryAdapters();
    const job = {
      jobType: 'Parse',
      tool: 'xml2er',
      params: '',
      paramsJson: '{}',
      request: '{"tool":"xml2er"}',
      inputPath: null,
      outputPath: null,
      idSch: null,
      idParentJob: null,
    } as const;
    const { idJobs } = await adapters.jobs.submit({
      idOrg: 1,
      workflowName: null,
      jobs: [job],
      idempotency: null,
    });
    idJob = idJobs[0]!;
  });
  const end = async (status: 'completed' | 'failed' = 'completed'): Promise<void> => {
    const claim = await adapters.jobs.claimJob(worker, 30_000);
    await adapters.jobs.finish(claim!, status, null);
  };
  const read = (range: Parameters<typeof readJobLog>[3]) => readJobLog(adapters, 1, idJob, range);

  it('is empty before the job starts, and hidden from other organisations', async () => {
    expect(await read({})).toMatchObject({
      status: 'queued',
      offset: 0,
      nextOffset: 0,
      totalSize: 0,
      completed: false,
    });
    await expect(readJobLog(adapters, 2, idJob, {})).rejects.toMatchObject({ code: 'not_found' });
    await expect(streamJobLog(adapters, 2, idJob).next()).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is read in slices that join to the whole, never inside a character', async () => {
    const log = 'größe 12 €\n😀😀\nend\n';
    adapters.logs.appendLog(idJob, log);
    await end();
    for (let limit = 4; limit < 40; limit += 1) {
      const parts: string[] = [];
      let slice = await read({ offset: 0, limit });
      while (slice.nextOffset < slice.totalSize) {
        expect(slice.completed).toBe(true);
        parts.push(text(slice.bytes));
        slice = await read({ offset: slice.nextOffset, limit });
      }
      parts.push(text(slice.bytes));
      expect(parts.join('')).toBe(log);
    }
    expect(await read({ offset: 10_000 })).toMatchObject({
      offset: sizeOf(log),
      nextOffset: sizeOf(log),
      completed: true,
    });
  });

  it('gives the last lines', async () => {
    adapters.logs.appendLog(idJob, 'one\ntwo\nthree\n');
    expect(text((await read({ tail: 2 })).bytes)).toBe('two\nthree\n');
    expect(text((await read({ tail: 9 })).bytes)).toBe('one\ntwo\nthree\n');
    expect(text((await read({ tail: 0 })).bytes)).toBe('');
    adapters.logs.appendLog(idJob, 'open');
    expect(text((await read({ tail: 1 })).bytes)).toBe('open');
  });

  it('finds the last lines far in front of the end, within one slice', async () => {
    const line = `${'x'.repeat(99)}\n`;
    adapters.logs.appendLog(idJob, line.repeat(100_000));
    expect((await read({ tail: 3000 })).bytes.length).toBe(300_000);
    expect((await read({ tail: 99_999 })).bytes.length).toBe(maxSliceBytes);
  });

  it('streams a range', async () => {
    const log = 'x'.repeat(200_000) + 'y';
    adapters.logs.appendLog(idJob, log);
    let all = '';
    for await (const bytes of streamJobLog(adapters, 1, idJob, { offset: 100_000 })) all += text(bytes);
    expect(all).toBe(log.slice(100_000));
  });

  it('is followed to the end, line by line, and resumes where a follower was cut off', async () => {
    const signal = new AbortController().signal;
    adapters.logs.appendLog(idJob, 'one\ntw');
    const parts: string[] = [];
    const follower = followJobLog(adapters, 1, idJob, { offset: 0, pollMs: 1, signal, mayGoOn });
    const first = await follower.next();
    expect(first.value).toMatchObject({ kind: 'data', offset: 0, nextOffset: 4 });
    parts.push('one\n');
    await follower.return();

    const resumed = followJobLog(adapters, 1, idJob, { offset: 4, pollMs: 1, signal, mayGoOn });
    const next = resumed.next();
    adapters.logs.appendLog(idJob, 'o\nthree\nfour, open');
    await end('failed');
    let status: JobStatus | null = null;
    for (let event = await next; !event.done; event = await resumed.next()) {
      if (event.value.kind === 'data') parts.push(text(event.value.bytes));
      else status = event.value.status;
    }
    expect(parts.join('')).toBe('one\ntwo\nthree\nfour, open');
    expect(status).toBe('failed');
  });

  it('is followed through a restart of the database', async () => {
    const signal = new AbortController().signal;
    adapters.logs.appendLog(idJob, 'one\n');
    let asked = 0;
    const lost = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
    const jobs = {
      ...adapters.jobs,
      find: (idOrg: number, id: number) =>
        (asked += 1) % 3 === 0 ? adapters.jobs.findJob(idOrg, id) : Promise.reject(lost),
    };
    const may = (): Promise<boolean> => ((asked += 1) % 5 === 0 ? Promise.reject(lost) : mayGoOn());
    const follower = followJobLog({ ...adapters, jobs }, 1, idJob, {
      offset: 0,
      pollMs: 1,
      signal,
      mayGoOn: may,
    });
    let all = '';
    for await (const event of follower) {
      if (event.kind === 'end') break;
      all += text(event.bytes);
      if (all === 'one\n') {
        adapters.logs.appendLog(idJob, 'two\n');
        await end();
      }
    }
    expect(all).toBe('one\ntwo\n');
  });

  it('stops following when told to', async () => {
    const stop = new AbortController();
    const follower = followJobLog(adapters, 1, idJob, {
      offset: 0,
      pollMs: 60_000,
      signal: stop.signal,
      mayGoOn,
    });
    const next = follower.next();
    stop.abort();
    expect((await next).done).toBe(true);
  });
});
