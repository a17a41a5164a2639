/** Starts the thread that renews the lease of a run by hand. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

const keep = await launch(fileURLToPath(new URL('../lease/heartbeat-thread.ts', import.meta.url)), []);
// it is ended from outside
keep?.();
