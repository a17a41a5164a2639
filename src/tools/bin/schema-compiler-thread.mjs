import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../schema-compiler-thread.ts', import.meta.url)), []);
