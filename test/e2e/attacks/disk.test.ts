/** What one organisation's files may take of the disk: uploads that are refused, jobs that fail, and room that comes back. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { execution } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

const kibibyte = 1024;
const documentOf = (bytes: number): Uint8Array =>
  new TextEncoder().encode(`<list>${'<item>value</item>'.repeat(Math.floor(bytes / 18))}</list>`);

describe('attacks on the disk', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.limits.disk': '200 KiB' });
    service = await trial.service(home);
  });

  const upload = async (bytes: Uint8Array): Promise<Response> => {
    const token = await service.client.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml' });
    return fetch(`${service.url}/v2/file/upload/xml?token=${token.body.token}&name=a.xml`, {
      method: 'POST',
      body: bytes as Uint8Array<ArrayBuffer>,
    });
  };
  const folder = (): string => join(home.directory, 'files', '1');

  it('many uploads at once get no more than there is, and what is removed is free again', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => upload(documentOf(60 * kibibyte))));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([200, 200, 200, 413, 413, 413]);
    const refused = answers.find(({ status }) => status === 413)!;
    expect(await refused.json()).toMatchObject({
      code: 'payload_too_large',
      detail: expect.stringContaining('svc.limits.disk'),
    });
    const left = await readdir(join(folder(), 'uploads'));
    expect(left).toHaveLength(3);

    while ((await upload(documentOf(30 * kibibyte))).status === 200) continue;
    const kept = answers.find(({ status }) => status === 200)!;
    const path = (await kept.json()) as string;
    expect(
      (await service.client.fetch(`/v2/file?path=${encodeURIComponent(path)}`, { method: 'DELETE' })).status,
    ).toBe(204);
    expect((await upload(documentOf(30 * kibibyte))).status).toBe(200);
  });

  it(
    'a job that writes files there fails with what to do; one that writes none goes on',
    needs('whole run'),
    async () => {
      const response = await upload(documentOf(2000));
      expect(response.status).toBe(200);
      const path = (await response.json()) as string;
      const run = async (target: string) => {
        const { jobs } = await service.client.run([execution('xml2er', path, [['-o', target]])]);
        return service.client.ended(jobs[0]!);
      };
      expect((await run('./out-before')).status).toBe('C');
      while ((await upload(documentOf(20 * kibibyte))).status === 200) continue;
      for (let bytes = 10 * kibibyte; bytes > 1; bytes /= 2)
        while ((await upload(documentOf(bytes))).status === 200) continue;
      expect(await run('./out-after')).toMatchObject({
        status: 'F',
        failure: expect.stringMatching(/svc\.limits\.disk.*remove/),
      });
      expect(existsSync(join(folder(), 'out-after'))).toBe(false);
      expect((await run('metadb:elsewhere')).status).toBe('C');
    },
  );

  it(
    'a job that rejects document after document has a log that ends, and a record that does not',
    needs('whole run'),
    async () => {
      const own = await createServiceHome({
        'cmd.enabled': 'true',
        'svc.limits.disk': '600 KiB',
        'svc.limits.job_log': '30 KiB',
      });
      const attacked = await startService(own);
      try {
        const { client } = attacked;
        await mkdir(join(own.directory, 'files', '1', 'in'), { recursive: true });
        for (let at = 0; at < 300; at += 1)
          await writeFile(join(own.directory, 'files', '1', 'in', `${at}.xml`), `<${'n'.repeat(200)}${at}>`);
        await writeFile(join(own.directory, 'files', '1', 'in', 'whole.xml'), '<list><item>1</item></list>');
        const { jobs } = await client.run([
          execution('xml2er', './in', [
            ['-o', 'metadb:rejects'],
            ['--on-error', 'skip'],
          ]),
        ]);
        const ended = await client.ended(jobs[0]!);
        expect(ended.status).toBe('C');
        const log = await client.log(jobs[0]!);
        expect(log.length).toBeLessThanOrEqual(30 * kibibyte);
        expect(log.trimEnd().split('\n').at(-1)).toContain('(svc.limits.job_log)');
        expect(JSON.stringify(ended)).toMatch(/300/);
        // its log counts for what the organisation may have
        const { size } = await stat(join(own.directory, 'logs', `job-${jobs[0]}.log`));
        await writeFile(
          join(own.directory, 'files', '1', 'in', 'large'),
          new Uint8Array(590 * kibibyte - size),
        );
        await pause(10_500);
        const token = await client.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml' });
        const refused = await fetch(
          `${attacked.url}/v2/file/upload/xml?token=${token.body.token}&name=a.xml`,
          {
            method: 'POST',
            body: documentOf(20 * kibibyte) as Uint8Array<ArrayBuffer>,
          },
        );
        expect(refused.status).toBe(413);
      } finally {
        await attacked.end('SIGTERM');
        await own.remove();
      }
    },
  );
});
