/** Starts a task on Spark that loads documents. */
import { fileURLToPath } from 'node:url';
import { launch } from '../launch.mjs';

await launch(fileURLToPath(new URL('../../load/spark/load-task.ts', import.meta.url)), process.argv.slice(2));
