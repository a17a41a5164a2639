/** Starts a task on Spark that takes statistics. */
import { fileURLToPath } from 'node:url';
import { launch } from '../launch.mjs';

await launch(
  fileURLToPath(new URL('../../load/spark/statistics-task.ts', import.meta.url)),
  process.argv.slice(2),
);
