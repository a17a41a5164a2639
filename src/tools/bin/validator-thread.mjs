/** Starts the thread that validates documents. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../validation/validator-thread.ts', import.meta.url)), []);
