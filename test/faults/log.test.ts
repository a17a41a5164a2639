/**
 * A long log and a follower that loses its connection again and again: what it has read is the log, byte for byte, and the service
 * needs no more memory for it. LOG_MEGABYTES says how long it is (40); 1000 is the size that is promised.
 */
import { createHash } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/postgres/connect.ts';
import { createPostgresJobStore } from '../../src/metadb/job-store.ts';
import { submission, worker } from '../contracts/stores/jobs/contract.ts';
import type { RunningService, ServiceHome } from '../support/service/start.ts';
import { peakMemory } from '../support/service/processes.ts';
import { needs } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const megabytes = Number(process.env['LOG_MEGABYTES'] ?? 40);

describe(`a log of ${megabytes} MB`, { timeout: 600_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  beforeAll(async () => {
    home = await trial.home({ 'svc.worker.concurrency': '0' });
    service = await trial.service(home);
  });

  it('a follower that reconnects has every byte, and the memory stays', needs('whole run'), async () => {
    const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 2 });
    const jobs = createPostgresJobStore(sql);
    const idJob = (await jobs.submit(submission(1, 1))).idJobs[0]!;
    const claim = await jobs.claimJob(worker, 3_600_000);
    expect(claim?.idJob).toBe(idJob);
    await mkdir(join(home.directory, 'logs'), { recursive: true });
    const file = await open(join(home.directory, 'logs', `job-${idJob}.log`), 'a');
    const written = createHash('sha256');
    let bytes = 0;
    const before = (await peakMemory(service.pid))!;

    const writing = (async () => {
      for (let line = 0; bytes < megabytes * 1e6;) {
        let piece = '';
        while (piece.length < 60_000)
          piece += `line ${(line += 1)}: Ärger, 北京, 🚚 and some more text to fill it\n`;
        const chunk = Buffer.from(piece);
        await file.writeFile(chunk);
        written.update(chunk);
        bytes += chunk.length;
        if (line % 5000 < 1200) await delay(1);
      }
      await file.writeFile('the last line has no end');
      written.update('the last line has no end');
      await file.close();
      await jobs.finish(claim!, 'completed', null);
    })();

    const read = createHash('sha256');
    let lastId: string | null = null;
    let ended: string | null = null;
    let connections = 0;
    while (ended === null) {
      connections += 1;
      const cut = new AbortController();
      const breakAfter = 2e6 + Math.random() * megabytes * 2e5;
      let got = 0;
      const response = await service.client.fetch(`/v2/executions/log/${idJob}`, {
        headers: { Accept: 'text/event-stream', ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) },
        signal: cut.signal,
      });
      try {
        for await (const event of events(response)) {
          if (event.name === 'end') {
            ended = event.data;
            break;
          }
          read.update(event.data);
          got += event.data.length;
          lastId = event.id;
          if (got > breakAfter) break;
        }
      } finally {
        cut.abort();
      }
    }
    await writing;
    expect(connections).toBeGreaterThan(3);
    expect(ended).toContain('C');
    expect(read.digest('hex')).toBe(written.digest('hex'));
    const grown = (await peakMemory(service.pid))! - before;
    console.log(
      `log of ${(bytes / 1e6).toFixed(0)} MB, ${connections} connections: memory grew by ${(grown / 1e6).toFixed(0)} MB`,
    );
    expect(grown).toBeLessThan(200e6);

    const tail = await service.client.fetch(`/v2/executions/log/${idJob}?tail=2`, {
      headers: { Accept: 'text/plain' },
    });
    expect((await tail.text()).split('\n').at(-1)).toBe('the last line has no end');
    await jobs.close();
    await sql.end({ timeout: 1 });
  });
});

interface ServerSentEvent {
  readonly name: string;
  readonly id: string;
  readonly data: string;
}

/** As the HTML standard reads them: lines of `data:` joined by line feeds. */
async function* events(response: Response): AsyncGenerator<ServerSentEvent> {
  let text = '';
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    let from = 0;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n', from)) {
      const lines = text.slice(from, end).split('\n');
      from = end + 2;
      const field = (name: string): string[] =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
      if (lines.every((line) => line === '' || line.startsWith(':'))) continue;
      yield {
        name: field('event')[0] ?? 'message',
        id: field('id')[0] ?? '',
        data: field('data').join('\n'),
      };
    }
    text = text.slice(from);
  }
}
