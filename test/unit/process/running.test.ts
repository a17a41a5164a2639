/** The table of processes as `ps` tells it, beside the one that this system has. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { processesOfPs, processTable, type ProcessTable } from '../../../src/process/running.ts';

const tables: readonly (readonly [name: string, table: ProcessTable])[] = [
  ['this system', processTable],
  ['ps', processesOfPs],
];
for (const [name, table] of tables)
  it(
    `processes, from ${name}, have a start, a user and arguments`,
    name === 'ps' ? needs('ps') : {},
    async () => {
      const child = spawn('sleep', ['4321'], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      try {
        const start = await table.startOf(child.pid!);
        expect(start).toBeGreaterThan(0);
        expect(await table.startOf(child.pid!)).toBe(start);
        const command = await table.commandOf(child.pid!);
        expect(command!.uid).toBe(process.getuid!());
        expect([command!.hasArgument('4321'), command!.hasArgument('432')]).toEqual([true, false]);
      } finally {
        child.kill('SIGKILL');
        await ended;
      }
      expect([await table.startOf(child.pid!), await table.commandOf(child.pid!)]).toEqual([null, null]);
    },
  );
