/** `node scripts/guard.mjs FILE ARGS…`: runs a TypeScript file of this project on a Node that can. */
import { resolve } from 'node:path';
import { importSource } from '../bin/launch.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: node scripts/guard.mjs FILE [ARGUMENT…]\n');
  process.exitCode = 2;
} else {
  await importSource(resolve(file), args);
}
