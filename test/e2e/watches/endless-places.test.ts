/** Servers of tenants that never come to an end: the watch says which limit it met, and the service stays as it was, also when it starts again. */
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';
import { writeFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startEndlessMysql } from '../../support/servers/endless-mysql.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient } from '../../support/service/watches.ts';

const rowsOf = (name: string, port: number) => ({
  name,
  location: `mysql://u:p@127.0.0.1:${port}/db`,
  every: '1m',
  target: `metadb:${name}`,
  options: { '--query': 'select 1 id, 2 x', '--xml-column': 'x', '--after': 'id' },
});
/** The most that the process has had, in MB. */
const peakOf = async (pid: number): Promise<number> =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))![1]) / 1000;

describe('places without an end', { timeout: 120_000 }, () => {
  const trial = useTrial();

  it('stall their watch with the limit that they met, and cost the service no memory', async () => {
    const home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': '127.0.0.1' });
    const service = await trial.service(home);
    const watches = watchClient(service.client);
    for (const kind of ['rows', 'columns', 'value'] as const) {
      const server = trial.keep(await startEndlessMysql(kind), async (one) => one.close());
      const { id_watch: id } = await watches.create(rowsOf(kind, server.port));
      const stalled = await eventually(
        `a stalled watch of ${kind}`,
        async () => (await watches.get(id)).stalled,
      );
      expect(stalled).toMatch(/^mysql:.*: the server sends an? .*\(svc\.limits\.target_message\)$/);
      expect((await watches.get(id)).paused).toBe(false);
      expect((await service.client.fetch('/actuator/health/liveness')).status).toBe(200);
    }
    expect(await peakOf(service.pid)).toBeLessThan(400);
  });

  it('pause their watch if its process was ended, and it stays so when the service starts again', async () => {
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': '127.0.0.1',
      'svc.limits.look_memory': '16 MiB',
    });
    const sockets = new Set<Socket>();
    const mute = createSocketServer((socket) => void sockets.add(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    trial.keep(mute, async () => {
      for (const socket of sockets) socket.destroy();
      mute.close();
    });
    const { port } = mute.address() as AddressInfo;
    let service: RunningService = await trial.service(home);
    const { id_watch: id } = await watchClient(service.client).create(rowsOf('mute', port));
    const paused = await eventually('a paused watch', async () => {
      const watch = await watchClient(service.client).get(id);
      return watch.paused ? watch : null;
    });
    expect(paused.stalled).toMatch(
      /the process that checked it was ended: it held \d+ MB of memory, more than the 17 MB of svc\.limits\.look_memory; the watch is paused/,
    );
    const looks = sockets.size;
    await service.end('SIGKILL');
    service = await trial.service(home);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await watchClient(service.client).get(id)).toMatchObject({
      paused: true,
      stalled: paused.stalled,
    });
    expect(sockets.size).toBe(looks);
  });

  it('cost the service no memory if they are folders of its own with very many files', async () => {
    const home = await trial.home({ 'cmd.enabled': 'true' });
    const folder = join(home.directory, 'files', '1', 'many');
    // uploads have a folder each, and outputs of jobs lie beside each other
    for (let group = 0; group < 80; group += 1) {
      await mkdir(join(folder, String(group)), { recursive: true });
      for (let at = 0; at < 500; at += 1)
        writeFileSync(join(folder, String(group), `${'n'.repeat(200)}${at}`), '');
    }
    const service = await trial.service(home);
    const watches = watchClient(service.client);
    const before = await peakOf(service.pid);
    const made = [];
    for (let at = 0; at < 4; at += 1)
      made.push(
        await watches.create({
          name: `w${at}`,
          location: 'many',
          pattern: '*.xml',
          every: '1s',
          target: `metadb:w${at}`,
        }),
      );
    for (const { id_watch: id } of made)
      await eventually('a look', async () => (await watches.get(id)).last_run);
    expect((await peakOf(service.pid)) - before).toBeLessThan(120);
  });
});
