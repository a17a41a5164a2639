/** Starts the thread that makes Parquet files beside a load. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

const keep = await launch(fileURLToPath(new URL('../load/threads/columns-thread.ts', import.meta.url)), []);
// it is ended from outside
keep?.();
