/** The contract of ProcessRunner, on child processes of Node: as they come, and where they wait for a further run. */
import { tmpdir } from 'node:os';
import { describe, it } from 'vitest';
import { createProcessRunner } from '../../../../src/process/tool-runner.ts';
import { processRunnerContract } from '../../../../src/testing.ts';

const workingDirectory = tmpdir();

describe.each([
  ['a process for each run', { workingDirectory }],
  ['processes that wait', { workingDirectory, waiting: { most: 2, waitMs: 10_000 } }],
])('process runner: %s', (_, options) => {
  for (const { name, run } of processRunnerContract(async () => createProcessRunner(options))) it(name, run);
});
