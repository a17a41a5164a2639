/** Starts the thread that compiles schemas for the service. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../schemas/compiler-thread.ts', import.meta.url)), []);
