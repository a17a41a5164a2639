/** What one organisation's files may take of the disk: uploads that are refused, jobs that fail, and room that comes back. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { execution } from '../../support/service/client.ts';

const kibibyte = 1024;
const documentOf = (bytes: number): Uint8Array =>
  new TextEncoder().encode(`<list>${'<item>value</item>'.repeat(Math.floor(bytes / 18))}</list>`);

describe('attacks on the disk', { timeout: 120_000 }, () => {
  let home: ServiceHome;
  let service: RunningService;

  beforeAll(async () => {
    home = await createServiceHome({ 'cmd.enabled': 'true', 'svc.limits.disk': '200 KiB' });
    service = await startService(home);
  });
  afterAll(async () => {
    await service?.end('SIGTERM');
    await home?.remove();
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

  it('a job that writes files there fails with what to do; one that writes none goes on', async () => {
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
  });
});
