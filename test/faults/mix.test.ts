/** A few cycles of `npm run faults -- --cycles`: no document is lost or doubled, whichever part fails. */
import { expect, it } from 'vitest';
import { isSound, runMix, tableOf } from '../../scripts/faults/mix/run.ts';
import { isHere, needs } from '../support/needs.ts';
import { mariadbParts } from '../support/servers/mariadb.ts';
import { useTrial } from '../support/service/trial.ts';

const trial = useTrial();
const cycles = isHere('whole run') ? 40 : 2;

it(
  'loads each document once while parts of two installations fail',
  { timeout: 120_000 + cycles * 60_000, ...needs([...mariadbParts, 'postgresql', 'pgbouncer']) },
  async () => {
    const folder = await trial.folder('mix-');
    const lines: string[] = [];
    const tell = (line: string): void => void lines.push(line);
    // in the short form, faults that each machine can make and that take seconds
    const fault = isHere('whole run') ? '' : 'kill of a';
    const report = await runMix({ cycles, seed: 7, fault, folder, tell });
    expect(isSound(report), `${lines.join('\n')}\n${tableOf(report)}`).toBe(true);
    expect(report.counts.reduce((sum, one) => sum + one.cycles, 0)).toBeGreaterThanOrEqual(cycles);
  },
);
