/**
 * Cases of faults in a short form: a few cycles each. `npm run faults` is the long one, which counts the same.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { lakeParts } from '../../scripts/faults/lake/places.ts';
import { runFaults } from '../../scripts/faults/run.ts';
import { needs } from '../support/needs.ts';
import { mariadbParts } from '../support/servers/mariadb.ts';
import { useTrial } from '../support/service/trial.ts';

const rounds = Number(process.env['FAULT_CYCLES'] ?? 3);

describe('cycles of faults', { ...needs('whole run'), timeout: 600_000 }, () => {
  const trial = useTrial();
  let folder: string;
  beforeAll(async () => {
    folder = await trial.folder('fault-cycles-');
  });

  const kinds = [
    ['processes', {}],
    ['database', {}],
    ['mariadb', needs(mariadbParts)],
    ['sqlite', {}],
    ['lake', needs(lakeParts)],
  ] as const;
  for (const [kind, options] of kinds)
    it(`${kind}: nothing lost, nothing doubled, nothing stuck`, options, async () => {
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
    });
});
