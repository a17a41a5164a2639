/** A disk that is full while an upload, an output or a log is written: a clear answer, nothing half done, and it goes on without a restart. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import { lockFolder } from '../../src/storage/staging/lock.ts';
import type { RunningService, ServiceHome } from '../support/service/start.ts';
import { execution } from '../support/service/client.ts';
import { freightDocumentFolder, freightXsdFolder } from '../support/service/fixtures.ts';
import { writeLargeDocument } from '../support/documents/large.ts';
import { convert } from '../support/service/tools.ts';
import { endedWithoutPauses } from '../support/service/retries.ts';
import { eventually } from '../support/service/waiting.ts';
import { needs } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

const run = promisify(execFile);
const mounted: string[] = [];

async function mountSmall(directory: string, size: string): Promise<boolean> {
  await mkdir(directory, { recursive: true });
  return run('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]).then(
    () => {
      mounted.push(directory);
      return true;
    },
    () => false,
  );
}

const probe = await mkdtemp(join(tmpdir(), 'mount-'));
const mayMount = await mountSmall(probe, '64k');

const filesIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);
/** The status of an upload, as a client reads it that is still sending: the service answers before it has taken all. */
async function uploadStatus(service: RunningService, bytes: Uint8Array): Promise<number> {
  const { body } = await service.client.post<{ token: string }>('/v2/file/upload/token', { kind: 'xml' });
  return new Promise((resolve, reject) => {
    const sending = request(`${service.url}/v2/file/upload/xml?token=${body.token}&name=a.xml`, {
      method: 'POST',
    });
    sending.on('response', (answer) => {
      resolve(answer.statusCode ?? 0);
      answer.resume();
    });
    sending.on('error', reject);
    sending.end(bytes);
  });
}

describe('a full disk', { timeout: 180_000, ...needs('mounts', mayMount) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let folder: string;
  let origin: string;
  let large: string;

  beforeAll(async () => {
    folder = await trial.folder('disk-full-');
    home = await trial.home({
      'svc.files.roots': folder,
      'svc.limits.attempts': '1',
      'svc.limits.outage_wait': '1 s',
    });
    origin = String((await convert(home, 'xsd2er', freightXsdFolder, '-g', '1')).origin);
    trial.keep(mounted, async () => {
      for (const directory of mounted.toReversed()) await run('umount', [directory]).catch(() => undefined);
      await rm(probe, { recursive: true, force: true });
    });
    large = (await writeLargeDocument(join(folder, 'large.xml'), 6e6)).path;
    for (const [name, size] of [
      ['files/1/uploads', '1m'],
      ['files/1/out', '1m'],
      ['logs', '64k'],
    ] as const)
      await mountSmall(join(home.directory, name), size);
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  const load = async (input: string, options: readonly (readonly [string, string])[]) => {
    const { jobs } = await service.client.run([execution('xml2er', input, options, origin)]);
    return endedWithoutPauses(service.client, sql, jobs[0]!);
  };
  const small = async (): Promise<string> => {
    const path = join(folder, 'small.xml');
    await writeFile(path, await readFile(join(freightDocumentFolder, 'manifest-1.xml')));
    return path;
  };

  it('an upload: 503, nothing of it left, the next one taken', async () => {
    expect(await uploadStatus(service, new Uint8Array(3e6))).toBe(503);
    expect(await filesIn(join(home.directory, 'files/1/uploads'))).toEqual([]);
    expect(await service.client.upload('xml', 'b.xml', new TextEncoder().encode('<a/>'))).toContain('b.xml');
  });

  it('an output: F with the reason, no file of it left, the next job writes there', async () => {
    const job = await load(large, [['-o', 'out/rows']]);
    expect(job, await service.client.log(job.id_job)).toMatchObject({
      status: 'F',
      failure: expect.stringMatching(/ENOSPC|full/),
    });
    expect(await filesIn(join(home.directory, 'files/1/out'))).toEqual([]);
    const next = await load(await small(), [['-o', 'out/rows']]);
    expect(next, next.failure ?? '').toMatchObject({ status: 'C' });
  });

  it('an output: waits for room without losing its attempt, and is whole when there is room', async () => {
    const filler = join(home.directory, 'files/1/out', 'filler');
    await writeFile(filler, new Uint8Array(2e6)).catch(() => undefined);
    const { jobs } = await service.client.run([
      execution('xml2er', await small(), [['-o', 'out/later']], origin),
    ]);
    const waiting = await eventually('a job that waits for room', async () => {
      const job = await service.client.job(jobs[0]!);
      return job.status === 'W' || job.end_date !== null ? job : null;
    });
    expect(waiting).toMatchObject({
      status: 'W',
      failure: expect.stringMatching(/^waiting since \S+Z, until \S+Z at the latest: .*(?:full|ENOSPC)/),
    });
    await rm(filler);
    const job = await endedWithoutPauses(service.client, sql, jobs[0]!);
    expect(job).toMatchObject({ status: 'C', attempt: 1, failure: null });
  });

  it('a log: F with the reason, and the next job has one again', async () => {
    const filler = join(home.directory, 'logs', 'filler');
    await writeFile(filler, new Uint8Array(61_000)).catch(() => undefined);
    const rest = join(home.directory, 'logs', 'rest');
    await writeFile(rest, new Uint8Array(65_536)).catch(() => undefined);
    const job = await load(await small(), [['-o', 'metadb:without_log']]);
    expect(job).toMatchObject({
      status: 'F',
      failure: expect.stringMatching(/log .*ENOSPC|could not be started/),
    });
    await rm(filler);
    await rm(rest, { force: true });
    const next = await load(await small(), [['-o', 'metadb:with_log']]);
    expect(next, next.failure ?? '').toMatchObject({ status: 'C' });
    expect(await service.client.log(next.id_job)).toContain(`job ${next.id_job}: C`);
  });

  it('a lock: no file of it left', async () => {
    const place = join(folder, 'full');
    await mountSmall(place, '4k');
    await writeFile(join(place, 'filler'), new Uint8Array(65_536)).catch(() => undefined);
    await expect(lockFolder(place, 0)).rejects.toMatchObject({ code: 'ENOSPC' });
    expect(await filesIn(place)).toEqual(['filler']);
  });
});
