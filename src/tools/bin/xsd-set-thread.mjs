import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../schemas/xsd-set-thread.ts', import.meta.url)), []);
