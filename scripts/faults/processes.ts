/**
 * The processes of an installation under fault: a service without workers of its own, workers beside it, and the processes that they start. All run the
 * build if it is as new as the sources.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import {
  projectRoot,
  serviceEnvironment,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../test/support/service/start.ts';

export interface Installation {
  readonly home: ServiceHome;
  service(): RunningService;
  /** those that run now */
  workers(): readonly ChildProcess[];
  /** starts what is missing */
  mend(): Promise<void>;
  end(): Promise<void>;
}

/** `workers` 0: the service runs the jobs itself. */
export async function startInstallation(
  home: ServiceHome,
  workers: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<Installation> {
  let service: RunningService | null = null;
  let serviceRuns = false;
  let ending = false;
  const running = new Set<ChildProcess>();

  async function mend(): Promise<void> {
    if (!serviceRuns) {
      service = await startService(
        home,
        {
          ...environment,
          ...(workers > 0 ? { SVC_WORKER_CONCURRENCY: '0' } : {}),
          ...(service === null ? {} : { PORT: new URL(service.url).port }),
        },
        ['bin/launch.mjs', 'service/service'],
      );
      serviceRuns = true;
      const started = service;
      void service.ended.then(({ code }) => {
        serviceRuns = false;
        // by its own will: that is a fault, and its last words tell which
        if (!ending && code !== null)
          process.stderr.write(`the service ended with ${code}:\n${started.output().slice(-4000)}\n`);
      });
    }
    while (running.size < workers) {
      const worker = spawn(process.execPath, ['bin/launch.mjs', 'service/worker'], {
        cwd: projectRoot,
        env: serviceEnvironment(home, environment),
        stdio: 'ignore',
      });
      running.add(worker);
      worker.once('exit', () => running.delete(worker));
    }
  }

  await mend();
  return {
    home,
    service: () => service!,
    workers: () => [...running],
    mend,
    async end() {
      ending = true;
      const ends = [...running].map((worker) => new Promise((resolve) => worker.once('exit', resolve)));
      for (const worker of running) worker.kill('SIGTERM');
      await Promise.all(ends);
      if (serviceRuns) await service!.end('SIGTERM');
    },
  };
}
