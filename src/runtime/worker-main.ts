/** `npm run worker`: jobs alone, beside a service that shares the database and the files. */
import { readBuildInfo } from './build-info.ts';
import { startHousekeeping } from './housekeeping.ts';
import { createJobWorker } from './job-worker.ts';
import { openInstallation } from './open-installation.ts';
import { startProbeServer } from './probe-server.ts';
import { createWatchScheduler } from './watches/scheduler.ts';
import { runUntilSignal } from './service.ts';

void runUntilSignal(async () => {
  const opened = await openInstallation(process.env, {
    role: 'service',
    write: (line) => process.stderr.write(line),
  });
  const { worker: settings } = opened.config;
  const worker = createJobWorker(opened, process.env, Math.max(settings.concurrency, 1));
  worker.start();
  let accepting = true;
  const probes =
    settings.port === null
      ? null
      : await startProbeServer(
          opened,
          { host: process.env['HOST'] || '127.0.0.1', port: settings.port },
          { running: () => worker.running(), accepting: () => accepting },
        );
  if (probes !== null) process.stdout.write(`health and metrics on ${probes.url}\n`);
  const scheduler = createWatchScheduler(opened);
  scheduler?.start();
  const housekeeping = await startHousekeeping(opened, await readBuildInfo());
  process.stdout.write('waiting for jobs\n');
  return {
    close: async () => {
      accepting = false;
      await scheduler?.stop();
      await worker.drain(settings.drainMs);
      await housekeeping.stop();
      await probes?.close();
      await opened.close();
    },
  };
});
