import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../spark-task.ts', import.meta.url)), process.argv.slice(2));
