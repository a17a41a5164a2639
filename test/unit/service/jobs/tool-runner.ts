/** A runner for the fixture processes, and ways to look at what they leave behind. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { createJobRunner, type LogMask } from '../../../../src/process/job-runner.ts';
import { createProcessRunner, type ProcessRunnerOptions } from '../../../../src/process/tool-runner.ts';
import { createLocalLogStore } from '../../../../src/storage/local/job-logs.ts';
import type { JobRunner } from '../../../../src/ports/processes.ts';

export interface TestRunner {
  readonly runner: JobRunner;
  readonly directory: string;
  /** the log of a job so far, '' when there is none */
  log(idJob: number): Promise<string>;
}

export async function createTestRunner(
  environment: Readonly<Record<string, string>> = {},
  maskOf?: (idJob: number) => Promise<LogMask>,
  heapBytes: number | null = null,
  memoryBytes?: number,
  waiting?: ProcessRunnerOptions['waiting'],
): Promise<TestRunner> {
  const directory = await temporaryFolder();
  const logsDirectory = join(directory, 'logs');
  const fixtures = new URL('../../../fixtures/processes/', import.meta.url);
  return {
    runner: createJobRunner({
      runner: createProcessRunner({
        workingDirectory: directory,
        heapBytes,
        ...(memoryBytes === undefined ? {} : { memoryBytes }),
        ...(waiting === undefined ? {} : { waiting }),
      }),
      entryOf: (tool) => fileURLToPath(new URL(`${tool}.mjs`, fixtures)),
      openLog: createLocalLogStore(logsDirectory).openLog,
      environment,
      ...(maskOf === undefined ? {} : { prepare: async ({ idJob }) => ({ mask: await maskOf(idJob) }) }),
    }),
    directory,
    log: (idJob) => readFile(join(logsDirectory, `job-${idJob}.log`), 'utf8').catch(() => ''),
  };
}

/** Whether a process with this id runs; one that only waits to be collected does not. */
export async function runs(pid: number): Promise<boolean> {
  if (!existsSync(`/proc/${pid}`)) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
}

/** Asks until the answer is not null; the test's own time limit ends it. */
export async function eventually<T>(ask: () => Promise<T | null> | T | null): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A process that was killed is there for a moment, where the machine is busy. */
export async function isGone(pid: number): Promise<void> {
  await eventually(async () => ((await runs(pid)) ? null : true));
}

/** Removed when the running test has finished. */
export async function temporaryFolder(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'jobs-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
