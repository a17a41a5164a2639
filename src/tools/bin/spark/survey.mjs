/** Starts a task on Spark that looks at documents before they are loaded. */
import { fileURLToPath } from 'node:url';
import { launch } from '../launch.mjs';

await launch(
  fileURLToPath(new URL('../../load/spark/survey-task.ts', import.meta.url)),
  process.argv.slice(2),
);
