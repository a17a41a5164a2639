/**
 * Cases of faults in a short form: a few cycles each. `npm run faults -- --rounds N --database-rounds N` is the long one, which
 * counts the same.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runFaults } from '../../scripts/faults/run.ts';
import { needs } from '../support/needs.ts';

const rounds = Number(process.env['FAULT_CYCLES'] ?? 3);

describe('cycles of faults', { ...needs('whole run'), timeout: 600_000 }, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fault-cycles-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(['processes', 'database'] as const)(
    '%s: nothing lost, nothing doubled, nothing stuck',
    async (kind) => {
      const told: string[] = [];
      const counts = await runFaults({
        kind,
        rounds,
        megabytes: 2,
        folder,
        tell: (line) => void told.push(line),
      });
      expect(counts, told.join('\n')).toMatchObject({
        cycles: rounds,
        jobs: 3 * rounds,
        lost: 0,
        doubled: 0,
        stuck: 0,
        submissionsWrong: 0,
        leftProcesses: 0,
      });
      expect(counts.completed, told.join('\n')).toBeGreaterThan(0);
    },
  );
});
