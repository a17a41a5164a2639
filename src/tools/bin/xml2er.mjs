#!/usr/bin/env node
/** The command `xml2er`: documents to rows. */
import { fileURLToPath } from 'node:url';
import { launch } from './launch.mjs';

await launch(fileURLToPath(new URL('../commands/xml2er.ts', import.meta.url)), process.argv.slice(2));
