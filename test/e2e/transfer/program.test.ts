/** The transfer program as a process: what an external one is handed, how it ends, and where a password goes. */
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createServiceHome,
  projectRoot,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { eventually } from '../../support/service/waiting.ts';
import { needs } from '../../support/needs.ts';

const program = join(projectRoot, 'test/fixtures/processes/migrates.mjs');

interface Seen {
  readonly argv: readonly string[];
  readonly mode: number;
  readonly folderMode: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly request: Readonly<Record<string, unknown>>;
  readonly pid: number;
}

describe('an external migration program', { timeout: 60_000 }, () => {
  let home: ServiceHome;
  let service: RunningService;
  let password: string;
  let folder: string;

  beforeAll(async () => {
    home = await createServiceHome({ 'svc.migration.binary': program });
    service = await startService(home, { PGPASSWORD: 'pg-c4nary', SVC_LIMITS_HEARTBEAT: '1 s' });
    password = decodeURIComponent(new URL(await home.databaseUrl()).password);
    folder = join(home.directory, 'files/1');
    await service.client.upload('xml', 'a.xml', new TextEncoder().encode('<a/>'));
  }, 60_000);

  afterAll(async () => {
    await service?.end('SIGTERM');
    await home?.remove();
  });

  const seen = async (): Promise<Seen> =>
    JSON.parse(await readFile(join(folder, 'seen.json'), 'utf8')) as Seen;

  it('is run as BINARY import --request FILE, the file private, no secret in arguments or environment', async () => {
    const answer = await service.client.post('/v2/schema/import', { input_path: 'uploads' });
    expect(answer).toEqual({ status: 200, body: { error: false, origin_ids: '41, 42' } });
    const { argv, mode, folderMode, environment, request } = await seen();
    expect(argv).toEqual(['import', '--request']);
    expect([mode, folderMode]).toEqual([0o600, 0o700]);
    const url = new URL(await home.databaseUrl());
    expect(request).toEqual({
      input_path: join(folder, 'uploads'),
      id_org: 1,
      id_job: expect.any(Number),
      metadb_host: url.hostname,
      metadb_port: url.port,
      metadb_user: url.username,
      metadb_db: url.pathname.slice(1),
      metadb_password: 'pg-c4nary',
      metadb_own_password: password,
      metadb_sslmode: 'disable',
    });
    expect(password.length).toBeGreaterThan(8);
    const shown = JSON.stringify(environment);
    for (const secret of [password, 'pg-c4nary', service.key]) expect(shown).not.toContain(secret);
  });

  it('has its output in the log under the request id, without the password; its failure is in the job record', async () => {
    const response = await service.client.fetch('/v2/schema/export', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Request-Id': 'request-c7' },
      body: JSON.stringify({ origin_id: '1', output_path: 'fails', metadb_db: 'other' }),
    });
    expect([response.status, await response.json()]).toEqual([200, { error: true, az_output_path: '' }]);
    const lines = service
      .output()
      .split('\n')
      .filter((line) => line.includes('"request-c7"'));
    expect(lines.join('\n')).toMatch(/working with \*\*\*/);
    expect(lines.join('\n')).toMatch(/a word on the other stream/);
    expect(lines.join('\n')).toMatch(/"migration failed"/);
    // the database is another one of the service's own server: PGPASSWORD speaks for it
    expect((await seen()).request).toMatchObject({ metadb_password: 'pg-c4nary', metadb_db: 'other' });
    expect(service.output()).not.toContain('pg-c4nary');
    const page = await service.client.get<{
      content: { job_type: string; status: string; failure: string }[];
    }>('/v2/executions/all');
    expect(page.content[0]).toMatchObject({ job_type: 'Export', status: 'F', failure: 'refused ***' });
  });

  it('is ended with all it started when its job is killed', needs('whole run'), async () => {
    const waiting = service.client.post('/v2/schema/export', {
      origin_id: '1',
      output_path: 'waits',
      metadb_db: 'other',
    });
    const pid = await eventually('the program', async () => {
      const found = await seen().catch(() => null);
      return found?.request['output_path'] === join(folder, 'waits') ? found.pid : null;
    });
    const page = await service.client.get<{ content: { id_job: number; status: string }[] }>(
      '/v2/executions/all',
    );
    const { id_job: idJob, status } = page.content[0]!;
    expect(status).toBe('R');
    const children = await eventually('its own child', async () => {
      const found = await childrenOf(pid);
      return found.length > 0 ? found : null;
    });
    await service.client.post(`/v2/executions/kill/${idJob}`);
    expect(await waiting).toEqual({ status: 200, body: { error: true, az_output_path: '' } });
    expect(await service.client.ended(idJob)).toMatchObject({ status: 'K' });
    for (const process of [pid, ...children]) await eventually('the end of the group', () => isGone(process));
  });

  it('ends with the service', needs('whole run'), async () => {
    const waiting = service.client
      .post('/v2/schema/export', { origin_id: '1', output_path: 'uploads/waits', metadb_db: 'other' })
      .catch(() => null);
    const pid = await eventually('the program', async () => {
      const text = await readFile(join(folder, 'uploads/seen.json'), 'utf8').catch(() => null);
      return text === null ? null : (JSON.parse(text) as Seen).pid;
    });
    expect((await service.end('SIGTERM')).code).toBe(0);
    await waiting;
    await eventually('the end of the program', () => isGone(pid));
    service = await startService(home);
  });

  it('leaves nothing when the service is killed: neither a process nor, after the next start, its request', async () => {
    await service.client.upload('xml', 'b.xml', new TextEncoder().encode('<b/>'));
    const place = join(home.directory, 'files/1/killed');
    await mkdir(place);
    const waiting = service.client
      .post('/v2/schema/export', { origin_id: '1', output_path: 'killed/waits', metadb_db: 'other' })
      .catch(() => null);
    const pid = await eventually('the program', async () => {
      const text = await readFile(join(place, 'seen.json'), 'utf8').catch(() => null);
      return text === null ? null : (JSON.parse(text) as Seen).pid;
    });
    const children = await eventually('its own child', async () => {
      const found = await childrenOf(pid);
      return found.length > 0 ? found : null;
    });
    expect(await requests(home)).toHaveLength(1);
    await service.end('SIGKILL');
    await waiting;
    for (const process of [pid, ...children]) await eventually('the end of the group', () => isGone(process));
    service = await startService(home);
    expect(await requests(home)).toEqual([]);
  });

  it('fails where the program is not there', async () => {
    await service.end('SIGTERM');
    await home.configure({ 'svc.migration.binary': join(home.directory, 'nothing') });
    service = await startService(home);
    const answer = await service.client.post('/v2/schema/import', { input_path: 'uploads' });
    expect(answer).toEqual({ status: 200, body: { error: true, origin_ids: '' } });
  });
});

describe('the password of the service', { timeout: 60_000 }, () => {
  let home: ServiceHome;
  let service: RunningService;
  let stranger: Server;
  const received: Buffer[] = [];

  beforeAll(async () => {
    // a server that asks for the password in clear text
    stranger = createServer((socket) => {
      socket.on('error', () => undefined);
      let requests = 0;
      socket.on('data', (chunk: Buffer) => {
        received.push(chunk);
        requests += 1;
        if (chunk.length === 8 && requests === 1) socket.write('N');
        else if (chunk[0] === 0x70) socket.end(refusal);
        else socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
      });
    });
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    home = await createServiceHome({ 'svc.allow.hosts': '*' });
    service = await startService(home, { PGPASSWORD: 'pg-c4nary' });
  }, 60_000);

  afterAll(async () => {
    await service?.end('SIGTERM');
    await home?.remove();
    stranger?.close();
  });

  it(
    'does not keep the service from its own database, however that is named',
    needs('whole run'),
    async () => {
      const xsd = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"/></xs:schema>';
      const path = await service.client.upload('xsd', 'a.xsd', new TextEncoder().encode(xsd));
      const made = await service.client.post('/v2/schema/create', { name: 'a', xsd: [path] });
      const idSch = String((made.body as unknown as { id_sch: number }).id_sch);
      const url = new URL(await home.databaseUrl());
      const names = [{}, { metadb_user: url.username }, { metadb_db: url.pathname.slice(1) }];
      for (const [at, named] of names.entries()) {
        const asked = { origin_id: idSch, output_path: `out-${at}`, ...named };
        expect((await service.client.post('/v2/schema/export', asked)).body).toEqual({
          error: false,
          az_output_path: '',
        });
      }
    },
  );

  it('is not sent to a host that the operator has not named', async () => {
    const { port } = stranger.address() as AddressInfo;
    const password = decodeURIComponent(new URL(await home.databaseUrl()).password);
    const asked = { origin_id: '1', output_path: 'out', metadb_host: '127.0.0.1', metadb_port: String(port) };
    const answer = await service.client.post('/v2/schema/export', asked);
    expect(answer).toEqual({ status: 200, body: { error: true, az_output_path: '' } });
    const bytes = Buffer.concat(received).toString('latin1');
    expect(bytes).toContain('user');
    expect(bytes).not.toContain(password);
    expect(bytes).not.toContain('pg-c4nary');

    const own = { ...asked, metadb_password: 'theirs-c4nary' };
    expect((await service.client.post('/v2/schema/export', own)).body).toEqual({
      error: true,
      az_output_path: '',
    });
    expect(Buffer.concat(received).toString('latin1')).toContain('theirs-c4nary');
    expect(service.output()).not.toContain('theirs-c4nary');
  });
});

/** ErrorResponse of the protocol: the password is wrong. */
const refusal = ((): Buffer => {
  const fields = Buffer.from('SFATAL\0C28P01\0Mwrong password\0\0');
  const head = Buffer.alloc(5);
  head[0] = 0x45;
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
})();

async function requests({ directory }: ServiceHome): Promise<string[]> {
  const names = await readdir(join(directory, 'tmp'), { recursive: true }).catch(() => [] as string[]);
  return names.filter((name) => name.endsWith('request.json'));
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** A process that is dead and not collected yet counts as gone. */
async function isGone(pid: number): Promise<true | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') X');
  return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2)) ? true : null;
}
