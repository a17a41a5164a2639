#!/usr/bin/env node
/** The command `unload`: removes the rows of documents from a target. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../commands/unload.ts', import.meta.url)), process.argv.slice(2));
