#!/usr/bin/env node
/** The command `er2xml`: rows to documents. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../commands/er2xml.ts', import.meta.url)), process.argv.slice(2));
