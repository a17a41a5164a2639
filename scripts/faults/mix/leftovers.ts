/** Files, tables, sessions and processes that no job needs any more. */
import { readdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { waitingTools } from '../../../test/support/service/processes.ts';
import type { Installation } from '../processes.ts';
import { toolDescendants } from '../scene.ts';
import { childrenOf } from '../victims.ts';
import type { MixScene } from './scene.ts';
import type { MixTarget } from './targets.ts';

const graceMs = 10_000;

/** Names of which only the numbers and random parts differ are equal. */
const shapeOf = (name: string): string => name.replaceAll(/[0-9a-f]{8}[0-9a-f-]*|\d+/g, '#');

/** Shapes of the names of all tables and files that exist now, each with its target or home. */
export async function contentShapes(
  scene: MixScene,
  targets: readonly MixTarget[],
): Promise<ReadonlySet<string>> {
  return new Set((await contents(scene, targets)).map(([place, name]) => `${place}: ${shapeOf(name)}`));
}

/** `usual`: shapes that installations without a fault leave. The next job in a place may remove what is found. */
export async function findLeftovers(
  scene: MixScene,
  targets: readonly MixTarget[],
  usual: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const found = (await contents(scene, targets))
    .filter(([place, name]) => !usual.has(`${place}: ${shapeOf(name)}`))
    .map(([place, name]) => `${place}: ${name}`);
  for (const { kind, strayFiles } of targets)
    found.push(...((await strayFiles?.()) ?? []).map((file) => `${kind}: ${file} in no table`));
  const sessions = await scene.places.sql`
    select 'session ' || pid || ' ' || application_name as told from pg_stat_activity
     where state like 'idle in transaction%' and state_change < now() - interval '5 seconds'
    union all select 'prepared transaction ' || gid from pg_prepared_xacts`;
  return new Set([...found, ...sessions.map((row) => row['told'] as string)]);
}

/** Processes of tools that no worker has, or that run although no job does. */
export async function orphanedProcesses(installations: readonly Installation[]): Promise<readonly number[]> {
  const until = performance.now() + graceMs;
  for (;;) {
    const found: number[] = [];
    for (const installation of installations) {
      const owned = (await Promise.all(installation.workers().map(({ pid }) => childrenOf(pid!)))).flat();
      const idle = (await waitingTools(installation.home)).map(({ pid }) => pid);
      found.push(...(await toolDescendants(installation)), ...idle.filter((pid) => !owned.includes(pid)));
    }
    if (found.length === 0 || performance.now() > until) return found;
    await delay(200);
  }
}

async function contents(
  { installations }: MixScene,
  targets: readonly MixTarget[],
): Promise<(readonly [place: string, name: string])[]> {
  const found: (readonly [string, string])[] = [];
  for (const target of targets) for (const name of await target.contents()) found.push([target.kind, name]);
  for (const { home } of installations)
    for (const name of await readdir(home.directory, { recursive: true }))
      if (!/^(?:logs|db)\//.test(name)) found.push(['home', name]);
  return found;
}
