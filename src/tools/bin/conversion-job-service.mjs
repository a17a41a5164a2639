#!/usr/bin/env node
/** The command `conversion-job-service`: the service, and what is asked of it and done with it by hand. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

const args = process.argv.slice(2);
/** Programs that are commands of this one, too. */
const programs = { migrate: '../commands/transfer.ts', unload: '../commands/unload.ts' };
/** Without arguments it is the service; `worker` runs jobs alone; the rest looks at what is there, and does what an operator does. */
const isWorker = args.length === 1 && args[0] === 'worker';
const program = Object.hasOwn(programs, args[0] ?? '') ? programs[args[0]] : null;
const entry = isWorker
  ? '../../runtime/worker-main.ts'
  : (program ?? (args.length > 0 ? '../cli/administer.ts' : '../../runtime/service-main.ts'));
const rest = isWorker ? [] : program === null ? args : args.slice(1);

await launch(fileURLToPath(new URL(entry, import.meta.url)), rest);
