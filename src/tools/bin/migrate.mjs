#!/usr/bin/env node
/** The command that exports and imports packages. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../commands/transfer.ts', import.meta.url)), process.argv.slice(2));
