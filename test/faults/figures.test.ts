/**
 * What `npm run faults -- --figures` counts, in a short form: not how long it took, but that kills, followers, a flood and a fault
 * under all kinds of jobs and targets leave nothing lost, doubled, wrong or behind.
 */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { measureFlood } from '../../scripts/faults/flood.ts';
import { measureLag } from '../../scripts/faults/follower-lag.ts';
import { killStates, measureKills } from '../../scripts/faults/kill-latency.ts';
import { openScene, type Scene } from '../../scripts/faults/scene.ts';
import { runVariety } from '../../scripts/faults/variety.ts';
import { kill } from '../../scripts/faults/victims.ts';
import { freightXsdFolder } from '../support/service/fixtures.ts';
import { writeLargeDocument } from '../support/documents/large.ts';
import { toolProcesses } from '../support/service/processes.ts';
import { needs, some } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

describe('under default settings', { timeout: 300_000 }, () => {
  const trial = useTrial();
  let folder: string;
  let scene: Scene;
  beforeAll(async () => {
    folder = await trial.folder('fault-figures-');
    const document = (await writeLargeDocument(join(folder, 'freight.xml'), 300_000)).path;
    scene = await openScene({
      workers: 2,
      database: 'embedded',
      xsd: freightXsdFolder,
      document,
      megabytes: 1,
    });
  });

  afterAll(async () => {
    await scene?.close();
  });

  // a stopped worker is what `test/faults/kill.test.ts` waits for
  it.each(
    some(
      killStates.filter((state) => state !== 'worker stopped'),
      1,
    ),
  )('kills in %s', async (state) => {
    expect(await measureKills(scene, state, 1)).toMatchObject({ kills: 1, wrong: 0, left: 0 });
  });

  it('followers of a log', async () => {
    expect(await measureLag(scene, 1, 3)).toMatchObject({ followers: 3, different: 0 });
  });

  it('every kind of job and target while tools are killed', needs('whole run'), async () => {
    const told: string[] = [];
    const fault = async (): Promise<string> => {
      for (const { pid } of await toolProcesses(scene.installation.home)) kill(pid, 'SIGKILL');
      return 'kill -9 of all tools';
    };
    const options = { scene, xsd: freightXsdFolder, rounds: 1, tasks: 15, patienceMs: 200_000, fault };
    const counts = await runVariety({ ...options, tell: (line) => void told.push(line) });
    expect(counts, told.join('\n')).toMatchObject({
      failed: 0,
      lost: 0,
      doubled: 0,
      stuck: 0,
      leftProcesses: 0,
    });
    expect(counts.completed).toBe(counts.jobs);
  });

  it('a flood of one organisation', needs('whole run'), async () => {
    const flood = await measureFlood(scene, 200, 2);
    expect(flood).toMatchObject({ queued: 200, others: 2, wrong: 0 });
    expect(flood.ran).toBeGreaterThan(0);
  });
});
