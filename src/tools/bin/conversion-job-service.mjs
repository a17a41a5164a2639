#!/usr/bin/env node
/** The command `conversion-job-service`: the service, and its keys and organisations by hand. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

const args = process.argv.slice(2);
/** Without arguments it is the service; `worker` runs jobs alone; the rest is what an operator does to keys, organisations, audit log. */
const isWorker = args.length === 1 && args[0] === 'worker';
const entry = isWorker
  ? '../../runtime/worker-main.ts'
  : args.length > 0
    ? '../cli/administer.ts'
    : '../../runtime/service-main.ts';

await launch(fileURLToPath(new URL(entry, import.meta.url)), isWorker ? [] : args);
