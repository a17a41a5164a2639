/** Starts the process that looks at places of watches. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../../runtime/watches/look-child.ts', import.meta.url)), []);
