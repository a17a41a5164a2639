/** Starts the thread that compiles an XSD set for a tool. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../schemas/xsd-set-thread.ts', import.meta.url)), []);
