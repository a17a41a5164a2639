/** Starts a thread of `--workers`, which loads documents. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

const keep = await launch(fileURLToPath(new URL('../load/threads/load-thread.ts', import.meta.url)), []);
// it is ended from outside
keep?.();
